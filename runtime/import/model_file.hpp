// What is asked of a model file before it is opened.
#pragma once

#include <filesystem>

namespace vellum {

// Error(not_found) or Error(io), without the file's name, unless it is a file.
void check_is_file(const std::filesystem::path& file);

}  // namespace vellum
