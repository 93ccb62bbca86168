// Paths as UTF-8, in which all text of Vellum is. std::filesystem::path takes and gives char in the code page
// of the process on Windows, and throws for what that lacks.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace vellum::platform {

// Throws Error(invalid_argument) on Windows if the text is not UTF-8. Elsewhere a path has any bytes.
std::filesystem::path utf8_path(std::string_view text);

// Never throws for what is in the path: on Windows a path that is no valid UTF-16 comes with '?' for each
// character beyond ASCII.
std::string to_utf8(const std::filesystem::path& path);

}  // namespace vellum::platform
