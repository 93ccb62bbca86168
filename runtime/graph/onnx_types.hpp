// Conversion from and to ONNX's numbers for element types: enum TensorProto.DataType,
// https://onnx.ai/onnx/repo-docs/IR.html.
#pragma once

#include <cstdint>

#include "graph/tensor.hpp"

namespace vellum {

// Returns the dtype; for a narrow type (narrow_types.hpp) the dtype that stores it. Throws Error(unsupported)
// for a type that Vellum does not support (string, complex).
DType dtype_from_onnx(int64_t number);
int64_t dtype_to_onnx(DType dtype);

}  // namespace vellum
