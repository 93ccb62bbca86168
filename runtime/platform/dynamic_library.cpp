#include "platform/dynamic_library.hpp"

#include <utility>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
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
    library.handle_ = LoadLibraryA(name);
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
