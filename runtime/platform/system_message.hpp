// Error messages of the operating system.
#pragma once

#include <string>
#include <system_error>

namespace vellum::platform {

// Returns one line of UTF-8, unlike std::error_code::message(), which on Windows uses the code page of the
// process.
std::string system_message(const std::error_code& error);

}  // namespace vellum::platform
