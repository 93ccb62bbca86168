// Conversion of paths to and from UTF-8, the encoding of all text in Vellum. On Windows std::filesystem::path
// converts char in the code page of the process, and throws for characters that the code page lacks.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace vellum::platform {

// Throws Error(invalid_argument) on Windows if the text is not UTF-8. On other systems a path may have any
// bytes.
std::filesystem::path utf8_path(std::string_view text);

// Accepts every path: on Windows, if the path is no valid UTF-16, each character beyond ASCII becomes '?'.
std::string to_utf8(const std::filesystem::path& path);

}  // namespace vellum::platform
