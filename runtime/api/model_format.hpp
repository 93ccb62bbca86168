// Identifies the formats of model files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace vellum {

// packed: a bundle, which pack/graph.hpp reads. The others have importers (import/import.hpp).
enum class ModelFormat : uint8_t { onnx, tflite, packed };

// Returns the format of a model by its first bytes; onnx if they match no other format. Throws
// Error(not_found) or Error(io), with the file's name, if the path is not a file.
ModelFormat model_format(const std::filesystem::path& file);
ModelFormat model_format(std::span<const std::byte> bytes);

}  // namespace vellum
