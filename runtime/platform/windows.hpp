// <windows.h> without the macros min and max, and without what is seldom needed. For Windows alone, and for
// .cpp files alone.
#pragma once

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

namespace vellum::platform {

// Deletes what Windows allocated with LocalAlloc.
struct FreeLocal {
  void operator()(void* memory) const { LocalFree(memory); }
};

}  // namespace vellum::platform
