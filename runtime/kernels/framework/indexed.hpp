// Reading and writing linear tensors at positions that other tensors hold.
#pragma once

#include <string>
#include <vector>

#include "kernels/framework/lowering.hpp"
#include "kernels/movement/strided.hpp"

namespace vellum {

// Loops over one tensor; operand 0 of `nest` is the indexed tensor, operand 1 the indices. The position in
// the indexed tensor is where operand 0 stands, plus index k (of sizes.size()) times steps[k].
struct IndexedLoops {
  LoopNest nest;
  std::vector<int64_t> sizes, steps;
};

// Whether shaders/gather.comp and scatter.comp have room for the loops, once collapsed.
bool fits_indexed(const IndexedLoops& loops);

// y = x at the positions; loops over y.
void gather(Lowering& lowering, TensorId x, TensorId indices, TensorId y, IndexedLoops loops);

// y at the positions = combine(y, updates); loops over the updates. `combine` is none, add, mul, max or min.
// With `unravel` one index counts through all the indexed dimensions.
void scatter(Lowering& lowering, TensorId indices, TensorId updates, TensorId y, IndexedLoops loops,
             const std::string& combine, bool unravel);

// Loops that pick one element along `axis` for each element of a tensor of `chosen`: GatherElements and
// ScatterElements, in a tensor of `shape`.
IndexedLoops loops_along(const Shape& shape, const Shape& chosen, size_t axis);

}  // namespace vellum
