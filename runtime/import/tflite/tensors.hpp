// Tensors of a TFLite file: types, shapes and constant values.
#pragma once

#include <optional>
#include <string>

#include "graph/tensor.hpp"
#include "import/names.hpp"
#include "import/tflite/schema.hpp"
#include "import/tflite/subgraph.hpp"

namespace vellum::tflite {

std::string tensor_name(const schema::Tensor& tensor);

// Throws Error(unsupported) for element types that Vellum does not support.
DType to_dtype(schema::TensorType type);
// Returns the shape; open dimensions are kUnknownDim. Throws Error(corrupt_model) for an invalid shape.
Shape read_shape(const schema::Tensor& tensor);

// Returns the value of a tensor with data in the file as a dense tensor, and counts its bytes. Returns
// nothing for a computed tensor.
std::optional<HostTensor> read_constant(File& file, const schema::Tensor& tensor);

}  // namespace vellum::tflite
