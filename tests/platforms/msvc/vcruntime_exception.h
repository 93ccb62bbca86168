#pragma once

typedef void(__cdecl* terminate_handler)();
[[noreturn]] void __cdecl terminate() noexcept;
terminate_handler __cdecl set_terminate(terminate_handler) noexcept;
extern "C" terminate_handler __cdecl _get_terminate() noexcept;

namespace std {
// As in Microsoft's library it can be made of a text, which the standard does not have.
class exception {
 public:
  exception() noexcept = default;
  explicit exception(const char*) noexcept {}
  exception(const char*, int) noexcept {}
  exception(const exception&) noexcept = default;
  exception& operator=(const exception&) noexcept = default;
  virtual ~exception() noexcept {}
  virtual const char* what() const noexcept { return ""; }
};
class bad_exception : public exception {};
class bad_alloc : public exception {};
class bad_array_new_length : public bad_alloc {};
}  // namespace std
