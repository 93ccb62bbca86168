// Loops over strided linear tensors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/framework/lowering.hpp"

namespace vellum {

// Nested loops over `dims`, outermost first. In loop d operand k advances by strides[k][d] elements.
struct LoopNest {
  Shape dims;
  std::vector<std::vector<int64_t>> strides;
};

// Returns equivalent loops without dimensions of 1. Adjacent loops are merged if every operand advances
// through both with one stride. At least one loop is kept.
LoopNest collapse(const LoopNest& nest);

// Returns whether the loops move whole groups of four contiguous elements of operand 0, which also advances
// by `steps`. If so, converts the loops and steps to units of groups.
bool counts_in_groups(LoopNest& nest, std::span<int64_t> steps);

// Returns whether four consecutive elements are in at most two rows of the innermost of several loops, so
// that a kernel decodes two positions for them (LONG_ROWS).
bool has_long_rows(const std::vector<int64_t>& dims);

// Copies input 0 to output `output`, both linear: the output's element at index i is the input's element base
// + sum of i[d] * strides[d]. Returns false, and does nothing, if the kernel has too few loops even after
// collapsing.
bool strided_copy(Lowering& lowering, size_t output, const std::vector<int64_t>& strides, int64_t base);
// Copies with the loops `nest` in place of the output's dimensions (for Tile).
bool strided_copy(Lowering& lowering, size_t output, LoopNest nest, int64_t base);
// Copies from any linear tensor to any other of its element type; at most twelve loops after collapsing.
void strided_copy(Lowering& lowering, TensorId x, TensorId y, LoopNest nest, int64_t base);

}  // namespace vellum
