// MinGW's <math.h>, with functions in place of its macros, as Microsoft's has them for C++.
#pragma once
#include_next <math.h>
#ifdef __cplusplus
#undef fpclassify
#undef isfinite
#undef isinf
#undef isnan
#undef isnormal
#undef signbit
#undef isgreater
#undef isgreaterequal
#undef isless
#undef islessequal
#undef islessgreater
#undef isunordered
extern "C++" {
#define VELLUM_CLASSIFICATIONS(type)        \
  int fpclassify(type) noexcept;            \
  bool isfinite(type) noexcept;             \
  bool isinf(type) noexcept;                \
  bool isnan(type) noexcept;                \
  bool isnormal(type) noexcept;             \
  bool signbit(type) noexcept;              \
  bool isgreater(type, type) noexcept;      \
  bool isgreaterequal(type, type) noexcept; \
  bool isless(type, type) noexcept;         \
  bool islessequal(type, type) noexcept;    \
  bool islessgreater(type, type) noexcept;  \
  bool isunordered(type, type) noexcept;
VELLUM_CLASSIFICATIONS(float)
VELLUM_CLASSIFICATIONS(double)
VELLUM_CLASSIFICATIONS(long double)
#undef VELLUM_CLASSIFICATIONS
}
#endif
