// Quotes names from a file for error messages.
#pragma once

#include <string>

namespace vellum {

// Returns the name in quotes, on one line and of bounded length, whatever bytes it contains.
std::string quoted_name(const std::string& name);

}  // namespace vellum
