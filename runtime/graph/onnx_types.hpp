// ONNX's numbers for element types: https://onnx.ai/onnx/repo-docs/IR.html, enum TensorProto.DataType.
#pragma once

#include <cstdint>

#include "graph/tensor.hpp"

namespace vellum {

// Throws Error(unsupported) for a type that Vellum has not (string, complex, bfloat16, 8-bit floats).
DType dtype_from_onnx(int64_t number);
int64_t dtype_to_onnx(DType dtype);

}  // namespace vellum
