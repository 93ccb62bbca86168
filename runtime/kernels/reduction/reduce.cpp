#include "kernels/reduction/reduce.hpp"

#include <algorithm>

#include "graph/operators/reduction/reduce.hpp"
#include "kernels/framework/divide.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/shared_loop.hpp"
#include "kernels/movement/strided.hpp"
#include "shaders/movement/to_linear.h"
#include "shaders/reduction/arg_extremum.h"
#include "shaders/reduction/reduce.h"
#include "shaders/reduction/reduce_linear.h"

namespace vellum {

namespace {

constexpr size_t kMaxLoops = decltype(ReduceLinearParameters::dims)::size();

void define_reduction(Dispatch& dispatch, const std::string& function) {
  define(dispatch, "REDUCTION", function);
  const char* join = function == "ReduceMax"    ? "max"
                     : function == "ReduceMin"  ? "min"
                     : function == "ReduceProd" ? "prod"
                                                : "sum";
  define(dispatch, "JOIN_NAME", join);
  if (function == "ReduceLogSumExp") define(dispatch, "LOG_SUM_EXP");
}

Shape with_ones(const Shape& shape, const std::vector<bool>& reduced) {
  Shape kept = shape;
  for (size_t axis = 0; axis < kept.size(); ++axis)
    if (reduced[axis]) kept[axis] = 1;
  return kept;
}

// A reduction of channels4 to `kept`, and who runs its loops.
struct TexelReduction {
  std::string function;
  Shape kept;
  std::array<int64_t, 4> extent{1, 1, 1, 1};  // texels that go into one: along N, slices, H, W
  bool channels = false;                      // of those reduced
  SharedLoop loop;
  LoopBy by = LoopBy::invocation;
};

// The loops over all that is reduced.
uint64_t loops_of(const std::string& function) { return function == "ReduceLogSumExp" ? 2 : 1; }

// Whether the texels are along one dimension.
bool is_along(const TexelReduction& r) {
  return std::ranges::count_if(r.extent, [](int64_t length) { return length > 1; }) <= 1;
}

// An invocation alone has a loop for each dimension in that of the one before.
SharedLoop loop_of(const TexelReduction& r) {
  SharedLoop loop;
  const auto [n, c, h, w] = nchw(r.kept);
  loop.results = n * slices(c) * h * w;
  loop.length = 1;
  uint64_t nested = 0;
  for (size_t slot = 4; slot-- > 0;) {
    loop.length *= r.extent[slot];
    nested = loop_iterations(r.extent[slot], nested);
  }
  const auto length = static_cast<uint64_t>(std::max<int64_t>(loop.length, 1));
  loop.iterations = loops_of(r.function) * (is_along(r) ? 1 : divide_up(nested, length));
  return loop;
}

TexelReduction texel_reduction(Lowering& lowering, const std::string& function,
                               const std::vector<bool>& reduced) {
  const Shape& shape = lowering.input_type(0).shape;
  TexelReduction r{.function = function, .kept = with_ones(shape, reduced)};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!reduced[axis]) continue;
    const size_t slot = channels4_slot(shape.size(), axis);
    r.channels = r.channels || slot == 1;
    r.extent[slot] = slot == 1 ? slices(shape[axis]) : shape[axis];
  }
  r.loop = loop_of(r);
  r.by = choose_loop(lowering, r.loop);
  return r;
}

// x of channels4 to y of channels4, which has `kept` as its shape.
void reduce_texels(Lowering& lowering, const TexelReduction& r, TensorId y) {
  const Shape& shape = lowering.input_type(0).shape;
  const TensorId x = lowering.read(0, Layout::channels4);
  const auto& extent = r.extent;
  const int64_t elements = element_count(shape) / element_count(r.kept);
  Dispatch dispatch =
      loop_dispatch(lowering.caps(), "reduce", r.loop, r.by, {reads("x", x), writes("y", y)},
                    ReduceParameters{.x_shape = texel_shape(shape),
                                     .y_shape = texel_shape(r.kept),
                                     .extent = {extent[3], extent[2], extent[1], extent[0]},
                                     .count = static_cast<float>(elements)});
  define_reduction(dispatch, r.function);
  if (r.channels) define(dispatch, "CHANNELS");
  if (r.channels && nchw(shape)[1] % 4 != 0) define(dispatch, "MASKED");
  if (is_along(r)) define(dispatch, "ALONG");
  lowering.dispatch(std::move(dispatch));
}

TensorId reduce_to_workspace(Lowering& lowering, const TexelReduction& r) {
  TensorDesc desc = lowering.tensor(lowering.read(0, Layout::channels4)).desc;
  desc.shape = r.kept;
  desc.element = ElementType::f32;
  const TensorId result = lowering.workspace(lowering.node().name + "/reduced", desc);
  reduce_texels(lowering, r, result);
  return result;
}

// The loops over the axes that are (or are not) reduced, collapsed.
LoopNest loops_over(const Shape& shape, const std::vector<bool>& reduced, bool wanted) {
  const std::vector<int64_t> strides = row_major_strides(shape);
  LoopNest nest{{}, {{}}};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (reduced[axis] != wanted) continue;
    nest.dims.push_back(shape[axis]);
    nest.strides[0].push_back(strides[axis]);
  }
  return collapse(nest);
}

void reduce_linear(Lowering& lowering, const std::string& function, const std::vector<bool>& reduced) {
  const Shape& shape = lowering.input_type(0).shape;
  LoopNest nest = loops_over(shape, reduced, false);
  const LoopNest inner = loops_over(shape, reduced, true);
  const auto kept = static_cast<int64_t>(nest.dims.size());
  nest.dims.insert(nest.dims.end(), inner.dims.begin(), inner.dims.end());
  nest.strides[0].insert(nest.strides[0].end(), inner.strides[0].begin(), inner.strides[0].end());
  if (nest.dims.size() > kMaxLoops) return lowering.run_on_host_for_rank();
  const int64_t results = element_count(lowering.output_type().shape);
  const int64_t parts = element_count(inner.dims), groups = (results + 3) / 4;
  const uint64_t of_offset = loop_iterations(static_cast<int64_t>(inner.dims.size()));
  const SharedLoop loop{
      .results = groups, .length = parts, .iterations = loops_of(function) * (1 + of_offset)};
  const LoopBy by = choose_loop(lowering, loop);
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(0, Layout::linear);
  Dispatch dispatch =
      loop_dispatch(lowering.caps(), "reduce_linear", loop, by, {reads("x", x), writes("y", y)},
                    ReduceLinearParameters{.y_count = results,
                                           .parts = parts,
                                           .kept = kept,
                                           .rank = nest.dims.size(),
                                           .dims = nest.dims,
                                           .strides = nest.strides[0]});
  define_reduction(dispatch, function);
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

TensorId reduce_to_workspace(Lowering& lowering, const std::string& function,
                             const std::vector<bool>& reduced) {
  return reduce_to_workspace(lowering, texel_reduction(lowering, function, reduced));
}

void reduce(Lowering& lowering, const std::string& function, const std::vector<bool>& reduced) {
  if (!is_float(lowering.input_type(0).dtype))
    return lowering.run_on_host(function + " of integers has no kernel");
  if (!lives_in_channels4(lowering, 0)) return reduce_linear(lowering, function, reduced);
  const TexelReduction r = texel_reduction(lowering, function, reduced);
  if (nchw(r.kept) == nchw(lowering.output_type().shape))
    return reduce_texels(lowering, r, lowering.write(0, Layout::channels4));
  // Without the reduced axes the rest would lie elsewhere in channels4: the result, small as it is, goes to
  // linear.
  const TensorId partial = reduce_to_workspace(lowering, r);
  const TensorId y = lowering.write(0, Layout::linear);
  lowering.dispatch(make_dispatch("to_linear", grid_1d(lowering.caps(), groups_of_four(r.kept)),
                                  {reads("x", partial), writes("y", y)},
                                  ToLinearParameters{.x_shape = texel_shape(r.kept)}));
}

void lower_reduce(Lowering& lowering) {
  const Reduce& op = lowering.op<Reduce>();
  const std::vector<size_t> axes = op.reduced_axes(operator_inputs(lowering));
  if (axes.empty() && op.noop_with_empty_axes) return lowering.alias(0, 0);
  std::vector<bool> reduced(lowering.input_type(0).shape.size(), false);
  for (size_t axis : axes) reduced[axis] = true;
  reduce(lowering, std::string(op.type()), reduced);
}

void lower_arg(Lowering& lowering) {
  const ArgReduce& op = lowering.op<ArgReduce>();
  const Shape& shape = lowering.input_type(0).shape;
  if (!is_float(lowering.input_type(0).dtype))
    return lowering.run_on_host(std::string(op.type()) + " of integers has no kernel");
  const size_t axis = normalize_axis(op.axis, shape.size());
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(0, Layout::linear);
  const Shape& result = lowering.output_type().shape;
  Dispatch dispatch = make_dispatch("arg_extremum", grid_1d(lowering.caps(), groups_of_four(result)),
                                    {reads("x", x), writes("y", y)},
                                    ArgExtremumParameters{.count = element_count(result),
                                                          .length = shape[axis],
                                                          .inner = product(shape, axis + 1, shape.size()),
                                                          .last = op.select_last_index});
  if (op.minimum) define(dispatch, "MIN");
  dispatch.iterations = loop_iterations(4, loop_iterations(shape[axis]));
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum
