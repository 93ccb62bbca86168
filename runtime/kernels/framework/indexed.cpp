#include "kernels/framework/indexed.hpp"

#include "graph/operator_support.hpp"
#include "kernels/framework/elements.hpp"

namespace vellum {

namespace {

constexpr size_t kMaxLoops = 6, kMaxDepth = 5;  // of shaders/gather.comp and scatter.comp

PushConstants push_loops(const IndexedLoops& loops) {
  const LoopNest& nest = loops.nest;
  PushConstants constants;
  constants.ints({element_count(nest.dims), static_cast<int64_t>(nest.dims.size()),
                  static_cast<int64_t>(loops.sizes.size())});
  push_padded(constants, nest.dims, kMaxLoops);
  push_padded(constants, nest.strides[0], kMaxLoops);
  push_padded(constants, nest.strides[1], kMaxLoops);
  push_padded(constants, loops.sizes, kMaxDepth);
  push_padded(constants, loops.steps, kMaxDepth);
  return constants;
}

}  // namespace

bool fits_indexed(const IndexedLoops& loops) {
  return loops.sizes.size() <= kMaxDepth && collapse(loops.nest).dims.size() <= kMaxLoops;
}

void gather(Lowering& lowering, TensorId x, TensorId indices, TensorId y, IndexedLoops loops) {
  loops.nest = collapse(loops.nest);
  const int64_t groups = groups_of_four(loops.nest.dims);
  const bool in_fours = loops.nest.strides[1].back() == 0 && counts_in_groups(loops.nest, loops.steps);
  Dispatch dispatch = make_dispatch("gather", grid_1d(lowering.caps(), groups),
                                    {reads(x), reads(indices), writes(y)}, push_loops(loops));
  if (in_fours) define(dispatch, "GROUPS");
  define_element(dispatch, lowering.tensor(y));
  lowering.dispatch(std::move(dispatch));
}

void scatter(Lowering& lowering, TensorId indices, TensorId updates, TensorId y, IndexedLoops loops,
             const std::string& combine, bool unravel) {
  loops.nest = collapse(loops.nest);
  Dispatch dispatch =
      make_dispatch("scatter", grid_1d(lowering.caps(), element_count(loops.nest.dims)),
                    {reads(indices), reads(updates), {y, Access::read_write}}, push_loops(loops));
  define(dispatch, "COMBINE", "combine_" + combine);
  if (unravel) define(dispatch, "UNRAVEL");
  define_element(dispatch, lowering.tensor(y));
  lowering.dispatch(std::move(dispatch));
}

IndexedLoops loops_along(const Shape& shape, const Shape& chosen, size_t axis) {
  std::vector<int64_t> strides = row_major_strides(shape);
  const int64_t step = strides[axis];
  strides[axis] = 0;
  return {{chosen, {strides, row_major_strides(chosen)}}, {shape[axis]}, {step}};
}

}  // namespace vellum
