// The terminal that a program prints to.
#pragma once

namespace vellum::io {

// Sets the console to UTF-8 and the output to binary, neither of which is the default on Windows. Every
// main() calls it first.
void prepare_output();

// Return whether stdout, or stderr, is a terminal.
bool stdout_is_terminal();
bool stderr_is_terminal();

}  // namespace vellum::io
