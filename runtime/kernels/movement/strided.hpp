// Loops over strided linear tensors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/framework/lowering.hpp"

namespace vellum {

// Nested loops over `dims`, outermost first, in which operand k advances by strides[k][d] elements.
struct LoopNest {
  Shape dims;
  std::vector<std::vector<int64_t>> strides;
};

// The same loops with dimensions of one left out and neighbours put together where every operand walks
// through both in one stride. At least one dimension stays.
LoopNest collapse(const LoopNest& nest);

// Whether the loops move whole groups of four neighbours of operand 0, which is at `steps` beside its
// strides; then their numbers, and steps, count groups.
bool counts_in_groups(LoopNest& nest, std::span<int64_t> steps);

// Output `output` is input 0's element base + sum of index * stride, both linear. False, and nothing done,
// where the loops do not fit the kernel even after collapsing.
bool strided_copy(Lowering& lowering, size_t output, const std::vector<int64_t>& strides, int64_t base);
// The same with loops that say more than the output's dimensions do (Tile).
bool strided_copy(Lowering& lowering, size_t output, LoopNest nest, int64_t base);
// The same from any linear tensor into any other of its element kind; at most twelve loops after collapsing.
void strided_copy(Lowering& lowering, TensorId x, TensorId y, LoopNest nest, int64_t base);

}  // namespace vellum
