// Quotes names from a file for error messages.
#pragma once

#include <string>

namespace vellum {

// Returns the name in quotes. The result is one line of bounded length, for a name of any bytes.
std::string quoted_name(const std::string& name);

}  // namespace vellum
