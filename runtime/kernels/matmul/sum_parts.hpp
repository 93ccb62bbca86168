// Sums that several invocations share, each of some of the products: split-K. What they find are parts, which
// another dispatch adds up: shaders/sum_parts.comp.
#pragma once

#include <cstdint>

#include "graph/operators/activation.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// What a dispatch makes of its sums: y = activation(sums + residual), which may be absent.
struct SumTarget {
  TensorId y = kNoTensor;
  Activation activation;
  TensorId residual = kNoTensor;
};

// What a dispatch of so many parts of each sum makes of them: a workspace that has them one behind the other,
// like images of a larger batch. `whole` itself where there is one part.
SumTarget target_of_parts(Lowering& lowering, const SumTarget& whole, int64_t parts);

// Then makes `whole` of them, if it is not the same.
void sum_parts(Lowering& lowering, const SumTarget& parts, const SumTarget& whole);

}  // namespace vellum
