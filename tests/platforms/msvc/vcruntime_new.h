#pragma once
#include <vcruntime.h>

namespace std {
struct nothrow_t {
  explicit nothrow_t() = default;
};
extern const nothrow_t nothrow;
enum class align_val_t : size_t {};
}  // namespace std

void* __cdecl operator new(size_t, const std::nothrow_t&) noexcept;
void* __cdecl operator new[](size_t, const std::nothrow_t&) noexcept;
void* __cdecl operator new(size_t, std::align_val_t, const std::nothrow_t&) noexcept;
inline void* __cdecl operator new(size_t, void* place) noexcept { return place; }
inline void* __cdecl operator new[](size_t, void* place) noexcept { return place; }
inline void __cdecl operator delete(void*, void*) noexcept {}
