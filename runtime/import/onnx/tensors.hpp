// Reads TensorProto into a HostTensor.
#pragma once

#include <cstdint>
#include <string>

#include "graph/tensor.hpp"
#include "import/onnx/external_data.hpp"
#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// Returns the DType of ONNX's TensorProto.DataType. Throws Error(unsupported), which names `what`, for types
// that Vellum does not support.
DType to_dtype(int32_t data_type, const std::string& what);

// Returns the tensor's value. Moves its raw bytes out of `tensor` instead of copying them. `what` names the
// tensor in errors. External data are read only from the folder of `files`.
HostTensor take_tensor(schema::TensorProto& tensor, const std::string& what, ExternalFiles& files);

}  // namespace vellum::onnx
