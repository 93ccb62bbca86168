// Weights in a file beside the model: https://github.com/onnx/onnx/blob/main/docs/ExternalData.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// Returns the `expected_bytes` of a tensor whose data_location is EXTERNAL. The location must be a relative
// path that stays in `folder` after symbolic links are resolved, and the range must be inside the file;
// otherwise throws Error. `what` names the tensor in errors.
std::shared_ptr<const std::byte> read_external_data(const schema::TensorProto& tensor,
                                                    const std::string& what,
                                                    const std::filesystem::path& folder,
                                                    uint64_t expected_bytes);

}  // namespace vellum::onnx
