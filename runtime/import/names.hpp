// How errors quote names that come from a file.
#pragma once

#include <string>

namespace vellum {

// 'name' in quotes, on one line and of bounded length, whatever bytes the file has put there.
std::string quoted_name(const std::string& name);

}  // namespace vellum
