#include "kernels/framework/indexed.hpp"

#include "graph/operator_support.hpp"
#include "kernels/framework/elements.hpp"
#include "shaders/movement/gather.h"
#include "shaders/movement/scatter.h"

namespace vellum {

namespace {

// The maximum number of loops in the parameters of gather.comp and scatter.comp.
constexpr size_t kMaxLoops = decltype(GatherParameters::dims)::size();
constexpr size_t kMaxDepth = decltype(GatherParameters::sizes)::size();
static_assert(decltype(ScatterParameters::dims)::size() == kMaxLoops &&
              decltype(ScatterParameters::sizes)::size() == kMaxDepth);

}  // namespace

bool fits_indexed(const IndexedLoops& loops) {
  return loops.sizes.size() <= kMaxDepth && collapse(loops.nest).dims.size() <= kMaxLoops;
}

void gather(Lowering& lowering, TensorId x, TensorId indices, TensorId y, IndexedLoops loops) {
  loops.nest = collapse(loops.nest);
  const int64_t groups = groups_of_four(loops.nest.dims);
  const bool in_fours = loops.nest.strides[1].back() == 0 && counts_in_groups(loops.nest, loops.steps);
  Dispatch dispatch = make_dispatch("gather", grid_1d(lowering.caps(), groups),
                                    {reads("x", x), reads("indices", indices), writes("y", y)},
                                    GatherParameters{.count = element_count(loops.nest.dims),
                                                     .rank = loops.nest.dims.size(),
                                                     .depth = loops.sizes.size(),
                                                     .dims = loops.nest.dims,
                                                     .x_strides = loops.nest.strides[0],
                                                     .index_strides = loops.nest.strides[1],
                                                     .sizes = loops.sizes,
                                                     .steps = loops.steps});
  if (in_fours) define(dispatch, "GROUPS");
  define_element(dispatch, lowering.tensor(y));
  lowering.dispatch(std::move(dispatch));
}

void scatter(Lowering& lowering, TensorId indices, TensorId updates, TensorId y, IndexedLoops loops,
             const std::string& combine, bool unravel) {
  loops.nest = collapse(loops.nest);
  const int64_t count = element_count(loops.nest.dims);
  Dispatch dispatch =
      make_dispatch("scatter", grid_1d(lowering.caps(), count),
                    {reads("indices", indices), reads("updates", updates), reads_and_writes("y", y)},
                    ScatterParameters{.count = count,
                                      .rank = loops.nest.dims.size(),
                                      .depth = loops.sizes.size(),
                                      .dims = loops.nest.dims,
                                      .y_strides = loops.nest.strides[0],
                                      .index_strides = loops.nest.strides[1],
                                      .sizes = loops.sizes,
                                      .steps = loops.steps});
  define(dispatch, "COMBINE", "combine_" + combine);
  if (combine == "none" && lowering.tensor(y).desc.element != ElementType::f16) define(dispatch, "PLAIN");
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
