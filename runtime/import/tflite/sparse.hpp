// Sparse weights in the format of Kjolstad et al., The Tensor Algebra Compiler, OOPSLA 2017, as TFLite stores
// it.
#pragma once

#include "graph/tensor.hpp"
#include "import/tflite/schema.hpp"

namespace vellum::tflite {

// Returns the dense tensor of `shape` whose stored elements are `values`, in the traversal order of
// `sparsity`.
HostTensor densify(const schema::Sparsity& sparsity, const HostTensor& values, const Shape& shape);

}  // namespace vellum::tflite
