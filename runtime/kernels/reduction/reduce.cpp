#include "kernels/reduction/reduce.hpp"

#include <algorithm>

#include "graph/operators/reduction/reduce.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/shared_loop.hpp"
#include "kernels/framework/strided.hpp"
#include "program/divide.hpp"
#include "shaders/movement/to_linear.h"
#include "shaders/reduction/reduce.h"
#include "shaders/reduction/reduce_linear.h"

namespace vellum {

namespace {

constexpr size_t kMaxLoops = decltype(ReduceLinearParameters::dims)::size();

constexpr const char* kFixedMean = "FixedMean";

// A dispatch of a reduction.
//   whole     reduces elements to results.
//   to_parts  reduces the elements of each segment to a partial result.
//   of_parts  reduces partial results to results.
enum class ReductionStep : uint8_t { whole, to_parts, of_parts };

void define_reduction(Dispatch& dispatch, const std::string& function, ReductionStep step) {
  define(dispatch, "REDUCTION", function);
  if (step == ReductionStep::to_parts) define(dispatch, "SEGMENTED");
  const char* join = function == "ReduceMax"    ? "max"
                     : function == "ReduceMin"  ? "min"
                     : function == "ReduceProd" ? "prod"
                                                : "sum";
  define(dispatch, "JOIN_NAME", join);
  if (function == "ReduceLogSumExp")
    define(dispatch, "LOG_SUM_EXP");
  else if (step != ReductionStep::whole)
    define(dispatch, step == ReductionStep::to_parts ? "TO_PARTS" : "OF_PARTS");
}

void append_fixed_mean(Dispatch& dispatch, const Lowering& lowering, const std::string& function) {
  if (function != kFixedMean) return;
  const FixedMean& mean = lowering.op<Reduce>().fixed_mean;
  define(dispatch, "FIXED_MEAN");
  dispatch.appended = {{"fixed_x_step", mean.x_step},
                       {"fixed_y_step", mean.y_step},
                       {"fixed_y", mean.y.multiplier},
                       {"fixed_shift", mean.y.shift}};
}

Shape with_ones(const Shape& shape, const std::vector<bool>& reduced) {
  Shape kept = shape;
  for (size_t axis = 0; axis < kept.size(); ++axis)
    if (reduced[axis]) kept[axis] = 1;
  return kept;
}

// A reduction of a channels4 tensor to the shape `kept`, and the invocations that share its loops.
struct TexelReduction {
  std::string function;
  Shape shape, kept;
  std::array<int64_t, 4> extent{1, 1, 1, 1};  // texels that are reduced to one: along N, slices, H, W
  bool channels = false;                      // channels are reduced, too
  SharedLoop loop;
  Segments segments;
  LoopBy by = LoopBy::invocation, by_of_parts = LoopBy::invocation;
};

// Returns the number of loops over all elements that are reduced.
uint64_t loops_of(const std::string& function) { return function == "ReduceLogSumExp" ? 2 : 1; }

// Returns whether the texels that are reduced lie along one dimension.
bool is_along(const TexelReduction& r) {
  return std::ranges::count_if(r.extent, [](int64_t length) { return length > 1; }) <= 1;
}

// Returns the loop of one result. An invocation that does not share it has nested loops, one for each
// dimension.
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

// Returns the loop over the partial results.
SharedLoop loop_of_parts(const TexelReduction& r) {
  return {.results = r.loop.results, .length = r.segments.count, .iterations = loops_of(r.function)};
}

TexelReduction texel_reduction(Lowering& lowering, const std::string& function,
                               const std::vector<bool>& reduced) {
  const Shape& shape = lowering.input_type(0).shape;
  TexelReduction r{.function = function, .shape = shape, .kept = with_ones(shape, reduced)};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!reduced[axis]) continue;
    const size_t slot = channels4_slot(shape.size(), axis);
    r.channels = r.channels || slot == 1;
    r.extent[slot] = slot == 1 ? slices(shape[axis]) : shape[axis];
  }
  r.loop = loop_of(r);
  r.segments = split_loop(lowering.caps(), r.loop);
  if (r.segments.are_many()) {
    // With segments there is one loop over all dimensions.
    r.loop.iterations = loops_of(function);
    r.by = choose_loop(lowering, loop_of_segments(r.loop, r.segments));
    r.by_of_parts = choose_loop(lowering, loop_of_parts(r));
  } else {
    r.by = choose_loop(lowering, r.loop);
  }
  return r;
}

void dispatch_texels(Lowering& lowering, const TexelReduction& r, ReductionStep step, TensorId x, TensorId y,
                     TensorId mean) {
  const Shape& from = lowering.tensor(x).desc.shape;
  const Shape& to = lowering.tensor(y).desc.shape;
  const bool of_parts = step == ReductionStep::of_parts;
  const std::array<int64_t, 4> extent =
      of_parts ? std::array<int64_t, 4>{r.segments.count, 1, 1, 1} : r.extent;
  const int64_t elements = element_count(r.shape) / element_count(r.kept);
  Dispatch dispatch = loop_dispatch(lowering.caps(), "reduce",
                                    of_parts                          ? loop_of_parts(r)
                                    : step == ReductionStep::to_parts ? loop_of_segments(r.loop, r.segments)
                                                                      : r.loop,
                                    of_parts ? r.by_of_parts : r.by, {reads("x", x), writes("y", y)},
                                    ReduceParameters{.x_shape = texel_shape(from),
                                                     .y_shape = texel_shape(to),
                                                     .extent = {extent[3], extent[2], extent[1], extent[0]},
                                                     .count = static_cast<float>(elements),
                                                     .segment = r.segments.length,
                                                     .images = nchw(r.kept)[0]});
  define_reduction(dispatch, r.function, step);
  append_fixed_mean(dispatch, lowering, r.function);
  if (of_parts) {
    define(dispatch, "ALONG_PARTS");
  } else {
    if (r.channels) define(dispatch, "CHANNELS");
    if (r.channels && nchw(from)[1] % 4 != 0) define(dispatch, "MASKED");
    if (mean != kNoTensor) {
      dispatch.bindings.push_back(reads("mean", mean));
      define(dispatch, "CENTRED");
    }
  }
  if (of_parts || is_along(r)) define(dispatch, "ALONG");
  lowering.dispatch(std::move(dispatch));
}

// Reduces x to y, both in channels4; y has the shape `kept`. If `mean` is a tensor, it is subtracted from x.
void reduce_texels(Lowering& lowering, const TexelReduction& r, TensorId y, TensorId mean = kNoTensor) {
  const TensorId x = lowering.read(0, Layout::channels4);
  if (!r.segments.are_many()) return dispatch_texels(lowering, r, ReductionStep::whole, x, y, mean);
  const auto [n, c, h, w] = nchw(r.kept);
  const TensorId parts = lowering.workspace(
      lowering.node().name + "/parts of " + r.function,
      {{r.segments.count * n, c, h, w}, ElementType::f32, Storage::buffer, Layout::channels4});
  dispatch_texels(lowering, r, ReductionStep::to_parts, x, parts, mean);
  dispatch_texels(lowering, r, ReductionStep::of_parts, parts, y, kNoTensor);
}

TensorId reduce_to_workspace(Lowering& lowering, const TexelReduction& r) {
  TensorDesc desc = lowering.tensor(lowering.read(0, Layout::channels4)).desc;
  desc.shape = r.kept;
  desc.element = ElementType::f32;
  const TensorId result = lowering.workspace(lowering.node().name + "/reduced", desc);
  reduce_texels(lowering, r, result);
  return result;
}

// Returns collapsed loops over the axes for which `reduced` is `wanted`.
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

// A reduction of a linear tensor.
struct LinearReduction {
  LoopNest nest;            // loops over the axes that are kept, then over the axes that are reduced
  int64_t kept = 0;         // number of loops over the axes that are kept
  int64_t parts = 0;        // elements that are reduced to one
  uint64_t iterations = 0;  // of the loop that computes the offset of an element
};

LinearReduction linear_reduction(const Shape& shape, const std::vector<bool>& reduced) {
  LinearReduction r{.nest = loops_over(shape, reduced, false)};
  const LoopNest inner = loops_over(shape, reduced, true);
  r.kept = static_cast<int64_t>(r.nest.dims.size());
  r.parts = element_count(inner.dims);
  r.iterations = loop_iterations(static_cast<int64_t>(inner.dims.size()));
  r.nest.dims.insert(r.nest.dims.end(), inner.dims.begin(), inner.dims.end());
  r.nest.strides[0].insert(r.nest.strides[0].end(), inner.strides[0].begin(), inner.strides[0].end());
  return r;
}

// Dispatches sums of integers. Each invocation computes its sums alone.
void dispatch_integer_sums(Lowering& lowering, const LinearReduction& r, int64_t results, TensorId x,
                           TensorId y) {
  const SharedLoop loop{.results = (results + 3) / 4, .length = r.parts, .iterations = 1 + r.iterations};
  Dispatch dispatch = loop_dispatch(lowering.caps(), "reduce_linear", loop, LoopBy::invocation,
                                    {reads("x", x), writes("y", y)},
                                    ReduceLinearParameters{.y_count = results,
                                                           .parts = r.parts,
                                                           .kept = r.kept,
                                                           .rank = r.nest.dims.size(),
                                                           .dims = r.nest.dims,
                                                           .strides = r.nest.strides[0],
                                                           .count = static_cast<float>(r.parts),
                                                           .segment = 0});
  define_reduction(dispatch, "ReduceSum", ReductionStep::whole);
  define(dispatch, "INTEGER");
  lowering.dispatch(std::move(dispatch));
}

// Sums few integers, such as the ones of a mask. A single sum of many integers first sums equal segments.
void sum_integers(Lowering& lowering, const std::vector<bool>& reduced) {
  const LinearReduction r = linear_reduction(lowering.input_type(0).shape, reduced);
  if (r.nest.dims.size() > kMaxLoops) return lowering.run_on_host_for_rank();
  const int64_t results = element_count(lowering.output_type().shape);
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(0, Layout::linear);
  constexpr int64_t kShortest = 8;
  int64_t segment = 64;
  while (segment >= kShortest && r.parts % segment != 0) --segment;
  if (results > 1 || segment < kShortest || r.parts <= segment || element_count(r.nest.dims) != r.parts)
    return dispatch_integer_sums(lowering, r, results, x, y);
  const int64_t segments = r.parts / segment;
  const TensorId sums = lowering.workspace(lowering.node().name + "/parts",
                                           {{segments}, ElementType::i32, Storage::buffer, Layout::linear});
  const LinearReduction first{{{segments, segment}, {{segment, 1}}}, 1, segment, loop_iterations(1)};
  const LinearReduction last{{{segments}, {{1}}}, 0, segments, loop_iterations(1)};
  dispatch_integer_sums(lowering, first, segments, x, sums);
  dispatch_integer_sums(lowering, last, 1, sums, y);
}

void reduce_linear(Lowering& lowering, const std::string& function, const std::vector<bool>& reduced) {
  const auto [nest, kept, parts, of_offset] = linear_reduction(lowering.input_type(0).shape, reduced);
  if (nest.dims.size() > kMaxLoops) return lowering.run_on_host_for_rank();
  const int64_t results = element_count(lowering.output_type().shape);
  const int64_t groups = (results + 3) / 4;
  const SharedLoop loop{
      .results = groups, .length = parts, .iterations = loops_of(function) * (1 + of_offset)};
  const Segments segments = split_loop(lowering.caps(), loop);
  const SharedLoop first = loop_of_segments(loop, segments);
  const LoopBy by = choose_loop(lowering, first);
  // Partial results, in groups of four, one segment after the other.
  const SharedLoop last{.results = groups,
                        .length = segments.count,
                        .iterations = loops_of(function) * (1 + loop_iterations(1))};
  const LoopBy by_of_parts = segments.are_many() ? choose_loop(lowering, last) : LoopBy::invocation;
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(0, Layout::linear);
  const TensorId to =
      !segments.are_many()
          ? y
          : lowering.workspace(
                lowering.node().name + "/parts",
                {{segments.count, 4 * groups}, ElementType::f32, Storage::buffer, Layout::linear});
  Dispatch dispatch =
      loop_dispatch(lowering.caps(), "reduce_linear", first, by, {reads("x", x), writes("y", to)},
                    ReduceLinearParameters{.y_count = results,
                                           .parts = parts,
                                           .kept = kept,
                                           .rank = nest.dims.size(),
                                           .dims = nest.dims,
                                           .strides = nest.strides[0],
                                           .count = static_cast<float>(parts),
                                           .segment = segments.length});
  define_reduction(dispatch, function, segments.are_many() ? ReductionStep::to_parts : ReductionStep::whole);
  append_fixed_mean(dispatch, lowering, function);
  lowering.dispatch(std::move(dispatch));
  if (!segments.are_many()) return;
  Dispatch of_parts =
      loop_dispatch(lowering.caps(), "reduce_linear", last, by_of_parts, {reads("x", to), writes("y", y)},
                    ReduceLinearParameters{.y_count = results,
                                           .parts = segments.count,
                                           .kept = 1,
                                           .rank = 2,
                                           .dims = std::vector<int64_t>{4 * groups, segments.count},
                                           .strides = std::vector<int64_t>{1, 4 * groups},
                                           .count = static_cast<float>(parts),
                                           .segment = 0});
  define_reduction(of_parts, function, ReductionStep::of_parts);
  append_fixed_mean(of_parts, lowering, function);
  lowering.dispatch(std::move(of_parts));
}

}  // namespace

TensorId reduce_to_workspace(Lowering& lowering, const std::string& function,
                             const std::vector<bool>& reduced) {
  return reduce_to_workspace(lowering, texel_reduction(lowering, function, reduced));
}

PlaneStatistics reduce_planes(Lowering& lowering) {
  std::vector<bool> reduced(lowering.input_type(0).shape.size(), true);
  reduced[0] = reduced[1] = false;
  const TexelReduction mean = texel_reduction(lowering, "ReduceMean", reduced);
  const TexelReduction variance = texel_reduction(lowering, "Variance", reduced);
  const TensorDesc desc{mean.kept, ElementType::f32, Storage::buffer, Layout::channels4};
  const std::string& name = lowering.node().name;
  const PlaneStatistics statistics{lowering.workspace(name + "/mean", desc),
                                   lowering.workspace(name + "/variance", desc)};
  reduce_texels(lowering, mean, statistics.mean);
  reduce_texels(lowering, variance, statistics.variance, statistics.mean);
  return statistics;
}

void reduce(Lowering& lowering, const std::string& function, const std::vector<bool>& reduced) {
  const DType dtype = lowering.input_type(0).dtype;
  constexpr int64_t kMostIntegers = 1 << 16;
  if (function == "ReduceSum" && (dtype == DType::i32 || dtype == DType::i64) &&
      element_count(lowering.input_type(0).shape) <= kMostIntegers)
    return sum_integers(lowering, reduced);
  if (!is_float(dtype)) return lowering.run_on_host(function + " of integers has no kernel");
  if (!is_in_channels4(lowering, 0)) return reduce_linear(lowering, function, reduced);
  const TexelReduction r = texel_reduction(lowering, function, reduced);
  if (nchw(r.kept) == nchw(lowering.output_type().shape))
    return reduce_texels(lowering, r, lowering.write(0, Layout::channels4));
  // Without the reduced axes, the other axes would move to other slots of channels4. The result, which is
  // small, is converted to linear.
  const TensorId partial = reduce_to_workspace(lowering, r);
  const TensorId y = lowering.write(0, Layout::linear);
  lowering.dispatch(make_dispatch("to_linear", grid_1d(lowering.caps(), groups_of_four(r.kept)),
                                  {reads("x", partial), writes("y", y)},
                                  ToLinearParameters{.x_shape = texel_shape(r.kept)}));
}

void lower_reduce(Lowering& lowering) {
  const Reduce& op = lowering.op<Reduce>();
  const std::vector<size_t> axes = op.reduced_axes(operator_inputs(lowering));
  if (op.keeps_elements(operator_inputs(lowering))) return lowering.alias(0, 0);
  std::vector<bool> reduced(lowering.input_type(0).shape.size(), false);
  for (size_t axis : axes) reduced[axis] = true;
  reduce(lowering, op.fixed_mean ? kFixedMean : std::string(op.type()), reduced);
}

}  // namespace vellum
