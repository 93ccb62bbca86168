// Messages of the operating system for its errors.
#pragma once

#include <string>
#include <system_error>

namespace vellum::platform {

// Returns one line of UTF-8. On Windows std::error_code::message() is in the code page of the process.
std::string system_message(const std::error_code& error);

}  // namespace vellum::platform
