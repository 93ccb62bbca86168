// Weights that lie in a file beside the model.
// https://github.com/onnx/onnx/blob/main/docs/ExternalData.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// The `expected_bytes` of a tensor whose data_location is EXTERNAL. The location must be a relative path that
// stays in `folder`, whatever symbolic links are on it, and the range must lie inside the file.
std::shared_ptr<const std::byte> read_external_data(const schema::TensorProto& tensor,
                                                    const std::string& what,
                                                    const std::filesystem::path& folder,
                                                    uint64_t expected_bytes);

}  // namespace vellum::onnx
