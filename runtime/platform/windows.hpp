// <windows.h> without the macros min and max and without rarely used parts. Only for .cpp files, on Windows.
#pragma once

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

namespace vellum::platform {

// Frees memory that Windows allocated with LocalAlloc.
struct FreeLocal {
  void operator()(void* memory) const { LocalFree(memory); }
};

}  // namespace vellum::platform
