#include "io/terminal.hpp"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <initializer_list>
#else
#include <unistd.h>
#endif

namespace vellum::io {

#ifdef _WIN32

void prepare_output() {
  SetConsoleOutputCP(CP_UTF8);
  for (const int stream : {1, 2}) _setmode(stream, _O_BINARY);
}

bool stdout_is_terminal() { return _isatty(1) != 0; }
bool stderr_is_terminal() { return _isatty(2) != 0; }

#else

void prepare_output() {}

bool stdout_is_terminal() { return isatty(1) != 0; }
bool stderr_is_terminal() { return isatty(2) != 0; }

#endif

}  // namespace vellum::io
