// Tensor contractions over strided linear tensors: the general kernel for sums of products that have no
// specialised kernel.
#pragma once

#include "kernels/framework/lowering.hpp"
#include "kernels/framework/strided.hpp"

namespace vellum {

// The loops of a contraction. Operand 0 is a, operand 1 is b. `kept` runs over the elements of y in order,
// `summed` over the terms of each sum.
struct Contraction {
  LoopNest kept, summed;
};

// Returns whether the shader contract.comp has enough loop levels for these loops, once collapsed.
bool fits_contract(const Contraction& c);
// y = sums of a * b, or sums of a if b is kNoTensor. All tensors are linear, and all have floats or all have
// integers.
void contract(Lowering& lowering, TensorId a, TensorId b, TensorId y, const Contraction& c);

}  // namespace vellum
