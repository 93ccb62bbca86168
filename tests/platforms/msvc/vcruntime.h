// The macros that Microsoft's standard library takes from its compiler's <vcruntime.h>, for msvc_dialect.sh.
#pragma once
#include <crtdefs.h>
#include <sal.h>
#include <vadefs.h>

#define _HAS_CXX17 1
#define _HAS_CXX20 1
#define _HAS_CXX23 0
#define _HAS_CXX26 0
#define _HAS_EXCEPTIONS 1
#define _HAS_NODISCARD 1
#define _NODISCARD [[nodiscard]]
#define _MSVC_CONSTEXPR [[msvc::constexpr]]
#define _CRT_STRINGIZE_(text) #text
#define _CRT_STRINGIZE(text) _CRT_STRINGIZE_(text)

// Calling conventions and imports from DLLs, which change nothing about syntax.
#define __CLRCALL_OR_CDECL __cdecl
#define __CLRCALL_PURE_OR_CDECL __cdecl
#define __CLR_OR_THIS_CALL
#define _VCRTIMP
#define _ACRTIMP
#define _VCRT_NOALIAS
#define _CRT_GUARDOVERFLOW
#define _CRT_SATELLITE_1
#define _CRT_SATELLITE_2
#define _CRT_SATELLITE_CODECVT_IDS
#define _CRT_SATELLITE_CODECVT_IDS_NOIMPORT
#define _Deref_post_opt_valid_
