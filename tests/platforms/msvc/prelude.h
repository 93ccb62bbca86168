// Included before every source by msvc_dialect.sh: MinGW's headers for a compiler that is no GCC, less what
// Clang's own headers or Microsoft's standard library do not accept.
#include <_mingw.h>
#undef __attribute__  // MinGW makes it empty; Clang's intrinsics need it
#undef USE___UUIDOF
#define USE___UUIDOF 0
// __declspec after the function's name, where Microsoft's syntax has none.
#undef __MINGW_ATTRIB_NORETURN
#define __MINGW_ATTRIB_NORETURN
#undef __MINGW_NOTHROW
#define __MINGW_NOTHROW
#undef __MINGW_ATTRIB_DEPRECATED
#define __MINGW_ATTRIB_DEPRECATED
#include <setjmp.h>
#undef _setjmp
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#ifdef __cplusplus
extern "C" int __cdecl _get_stream_buffer_pointers(FILE*, char***, char***, int**);
extern "C" [[noreturn]] void __cdecl _invoke_watson(const wchar_t*, const wchar_t*, const wchar_t*,
                                                    unsigned int, size_t);
inline long abs(long value) noexcept { return labs(value); }
inline long long abs(long long value) noexcept { return llabs(value); }
#endif
