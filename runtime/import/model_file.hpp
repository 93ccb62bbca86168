// Checks of a model file before it is read: that it is a file, and which format its first bytes have.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace vellum {

// Throws Error(not_found) or Error(io), without the file's name, if the path is not a file.
void check_is_file(const std::filesystem::path& file);
// Throws Error(not_found) or Error(io), with the file's name, if the path is not a file.
void check_model_file(const std::filesystem::path& file);

// Returns the first kSignatureBytes (other_formats.hpp), by which formats are identified; fewer if the model
// is shorter or the file cannot be read.
std::string head_of(const std::filesystem::path& file);
std::string_view head_of(std::span<const std::byte> bytes);

// Returns whether a model that begins with `head` is a TFLite file.
bool is_tflite(std::string_view head);

}  // namespace vellum
