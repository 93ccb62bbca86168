// Matrix products of integers.
#pragma once

#include "kernels/framework/lowering.hpp"

namespace vellum {

// Output 0 = a * b as MatMul multiplies its inputs 0 and 1, of whose shapes a and b are; or the host computes
// it.
void multiply_integers(Lowering& lowering, TensorId a, TensorId b);

}  // namespace vellum
