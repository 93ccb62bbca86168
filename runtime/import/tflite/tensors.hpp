// Tensors of a TFLite file: types, shapes and constant values.
#pragma once

#include <optional>
#include <string>

#include "graph/tensor.hpp"
#include "import/names.hpp"
#include "import/tflite/schema.hpp"

namespace vellum::tflite {

std::string tensor_name(const schema::Tensor& tensor);

// Throws Error(unsupported) for element types that Vellum does not compute with.
DType to_dtype(schema::TensorType type);
// Open dimensions are kUnknownDim. Throws Error(corrupt_model) for what is no shape.
Shape read_shape(const schema::Tensor& tensor);

// The value of a tensor with data in the file, sparse ones made dense; nothing for those that are computed.
// `file` is the whole file, which large models keep their data behind the flatbuffer of.
std::optional<HostTensor> read_constant(const schema::Model& model, const schema::Tensor& tensor,
                                        std::span<const std::byte> file);

}  // namespace vellum::tflite
