// Matrix products of integers.
#pragma once

#include "kernels/framework/lowering.hpp"

namespace vellum {

// Output 0 = a * b, the matrix product of tensors with the shapes of inputs 0 and 1. Falls back to the host
// if there is no kernel.
void multiply_integers(Lowering& lowering, TensorId a, TensorId b);

}  // namespace vellum
