// Gather and scatter: accesses linear tensors at positions that other tensors contain.
#pragma once

#include <string>
#include <vector>

#include "kernels/framework/lowering.hpp"
#include "kernels/movement/strided.hpp"

namespace vellum {

// Loops over one tensor. Operand 0 of `nest` is the indexed tensor, operand 1 the indices. The position in
// the indexed tensor is that of operand 0 plus index k (of sizes.size()) times steps[k].
struct IndexedLoops {
  LoopNest nest;
  std::vector<int64_t> sizes, steps;
};

// Returns whether the shaders gather.comp and scatter.comp have enough loop levels for these loops, once
// collapsed.
bool fits_indexed(const IndexedLoops& loops);

// y = x at the positions; loops over y.
void gather(Lowering& lowering, TensorId x, TensorId indices, TensorId y, IndexedLoops loops);

// y at the positions = combine(y, updates); loops over the updates. `combine` is none, add, mul, max or min.
// With `unravel` one index counts through all the indexed dimensions.
void scatter(Lowering& lowering, TensorId indices, TensorId updates, TensorId y, IndexedLoops loops,
             const std::string& combine, bool unravel);

// Returns loops that select one element along `axis` of a tensor of `shape` for each element of a tensor of
// `chosen`: GatherElements and ScatterElements.
IndexedLoops loops_along(const Shape& shape, const Shape& chosen, size_t axis);

}  // namespace vellum
