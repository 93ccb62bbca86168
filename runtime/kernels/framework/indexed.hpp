// Gather and scatter: access to linear tensors at positions that other tensors contain.
#pragma once

#include <string>
#include <vector>

#include "kernels/framework/lowering.hpp"
#include "kernels/framework/strided.hpp"

namespace vellum {

// Loops of an indexed access. Operand 0 of `nest` is the indexed tensor, operand 1 the index tuples. The
// position in the indexed tensor is that of operand 0 plus the sum of index[k] * steps[k], where index[k] is
// in 0..sizes[k].
struct IndexedLoops {
  LoopNest nest;
  std::vector<int64_t> sizes, steps;
};

// Returns whether the shaders gather.comp and scatter.comp have enough loop levels for these loops, once
// collapsed.
bool fits_indexed(const IndexedLoops& loops);

// y = x at the indexed positions. The loops run over y.
void gather(Lowering& lowering, TensorId x, TensorId indices, TensorId y, IndexedLoops loops);

// y at the indexed positions = combine(y, updates). The loops run over the updates. `combine`: none, add,
// mul, max or min. `unravel`: a single flat index addresses all indexed dimensions.
void scatter(Lowering& lowering, TensorId indices, TensorId updates, TensorId y, IndexedLoops loops,
             const std::string& combine, bool unravel);

// Returns the loops of GatherElements and ScatterElements: for each element of a tensor of shape `chosen`
// they select one element along `axis` of a tensor of `shape`.
IndexedLoops loops_along(const Shape& shape, const Shape& chosen, size_t axis);

}  // namespace vellum
