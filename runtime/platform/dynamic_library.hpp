// A shared library opened at run time.
#pragma once

#include <span>

namespace vellum::platform {

class DynamicLibrary {
 public:
  DynamicLibrary() = default;
  ~DynamicLibrary();
  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;

  // The first of the names that opens; an empty DynamicLibrary if none does.
  static DynamicLibrary open(std::span<const char* const> names);
  explicit operator bool() const { return handle_ != nullptr; }
  // Null if the library has no such function.
  void* symbol(const char* name) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace vellum::platform
