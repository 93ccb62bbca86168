// TensorProto -> HostTensor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "graph/tensor.hpp"
#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// ONNX's TensorProto.DataType; throws Error(unsupported), naming `what`, for types that Vellum does not
// compute with.
DType to_dtype(int32_t data_type, const std::string& what);

// The tensor's value; takes its raw bytes instead of copying them. `what` names the tensor in errors.
// External data are looked for in `folder` and nowhere else; an empty `folder` refuses them.
HostTensor take_tensor(schema::TensorProto& tensor, const std::string& what,
                       const std::filesystem::path& folder);

}  // namespace vellum::onnx
