// Sums of products over strided linear tensors: the general kernel for forms that have none of their own.
#pragma once

#include "kernels/framework/lowering.hpp"
#include "kernels/movement/strided.hpp"

namespace vellum {

// Operand 0 of the loops is a, operand 1 b. `kept` runs over the elements of y in order.
struct Contraction {
  LoopNest kept, summed;
};

// Returns whether the shader contract.comp has enough loop levels for these loops, once collapsed.
bool fits_contract(const Contraction& c);
// y = sums of a * b, all linear and all of floats or all of integers; without b (kNoTensor) sums of a.
void contract(Lowering& lowering, TensorId a, TensorId b, TensorId y, const Contraction& c);

}  // namespace vellum
