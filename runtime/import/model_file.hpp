// The check of a model file before it is opened.
#pragma once

#include <filesystem>

namespace vellum {

// Throws Error(not_found) or Error(io), without the file's name, if the path is not a file.
void check_is_file(const std::filesystem::path& file);
// Throws the same errors with the file's name.
void check_model_file(const std::filesystem::path& file);

}  // namespace vellum
