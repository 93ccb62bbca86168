// Gathers Q, K and V of attention, where the kernel cannot read them in place.
#pragma once

#include <cstdint>

#include "graph/operators/matmul/attention.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// Q, K and V as rows of one grid of texels (shaders/matmul/attention_pack.comp).
struct OperandGrid {
  TensorId tensor = kNoTensor;
  int64_t width = 0, k_row = 0, v_row = 0;
};

// Adds the dispatches that gather the operands: one where all are views of one tensor at equal distances,
// else one for operands of one shape that follow each other.
OperandGrid gather_operands(Lowering& lowering, const Attention::Operands& o);

// Says how the words of caches store numbers.
void define_cache_rows(const Lowering& lowering, Dispatch& dispatch);

}  // namespace vellum
