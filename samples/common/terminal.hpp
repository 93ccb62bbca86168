// The terminal that a program prints to.
#pragma once

namespace vellum::samples {

// Lets the console show the UTF-8 that the program prints, and leaves the bytes of its output as they are:
// Windows does neither by itself. Called first by every main().
void prepare_output();

// Whether somebody watches stderr.
bool stderr_is_terminal();

}  // namespace vellum::samples
