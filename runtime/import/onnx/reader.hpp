// Parses the protobuf message of a model from a file or bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// Throws Error: not_found, io, unsupported (too large for protobuf), corrupt_model.
schema::ModelProto read_model(const std::filesystem::path& file);
schema::ModelProto read_model(std::span<const std::byte> bytes);

}  // namespace vellum::onnx
