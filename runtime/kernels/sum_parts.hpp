// Sums that several invocations share, each of some of the products: split-K. What they find are parts, which
// another dispatch adds up: shaders/sum_parts.comp.
#pragma once

#include <cstdint>

#include "kernels/lowering.hpp"

namespace vellum {

// A workspace for as many parts of each element of y, one behind the other like images of a larger batch.
TensorId workspace_of_parts(Lowering& lowering, TensorId y, int64_t parts);

// y = activation(sum of the parts + residual), which may be absent.
void sum_parts(Lowering& lowering, TensorId parts, TensorId y, const Activation& activation,
               TensorId residual);

}  // namespace vellum
