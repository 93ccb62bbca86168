// A shared library (.so, .dll) that is opened at run time.
#pragma once

#include <span>

namespace vellum::platform {

class DynamicLibrary {
 public:
  DynamicLibrary() = default;
  ~DynamicLibrary();
  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;

  // Opens the first of the named libraries that can be opened. Returns an empty DynamicLibrary if none can.
  static DynamicLibrary open(std::span<const char* const> names);
  explicit operator bool() const { return handle_ != nullptr; }
  // Returns the address of a function; null if the library has no such function.
  void* symbol(const char* name) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace vellum::platform
