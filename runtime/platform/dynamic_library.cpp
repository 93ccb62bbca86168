#include "platform/dynamic_library.hpp"

#include <utility>

#ifdef _WIN32
#include "platform/windows.hpp"
#else
#include <dlfcn.h>
#endif

namespace vellum::platform {

DynamicLibrary::~DynamicLibrary() {
  if (!handle_) return;
#ifdef _WIN32
  FreeLibrary(static_cast<HMODULE>(handle_));
#else
  dlclose(handle_);
#endif
}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

DynamicLibrary DynamicLibrary::open(std::span<const char* const> names) {
  DynamicLibrary library;
  for (const char* name : names) {
#ifdef _WIN32
    // From the application's folder or the system's, never from the current folder or PATH, where anybody may
    // put a file.
    library.handle_ = LoadLibraryExA(name, nullptr, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
#else
    library.handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
#endif
    if (library.handle_) break;
  }
  return library;
}

void* DynamicLibrary::symbol(const char* name) const {
#ifdef _WIN32
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name));
#else
  return dlsym(handle_, name);
#endif
}

}  // namespace vellum::platform
