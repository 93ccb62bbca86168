// Lowers ArgMax and ArgMin. Long axes take two dispatches: one for segments, one for their results.
#include "shaders/reduction/arg_extremum.h"

#include <algorithm>
#include <cmath>

#include "graph/operators/reduction/reduce.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/shared_loop.hpp"
#include "kernels/reduction/arg_extremum.hpp"
#include "program/divide.hpp"
#include "shaders/reduction/arg_parts.h"

namespace vellum {
namespace {

// An invocation of the second step runs the loops of four results.
constexpr int64_t kResults = 4;

// Returns the segments. A segment has about as many elements as an invocation of the second step reads.
Segments split_axis(const DeviceCaps& caps, int64_t length) {
  constexpr int64_t kMostIterations = 65535, kLeast = 256;
  const int64_t most = std::min<int64_t>(kMostIterations, caps.max_loop_iterations);
  if (loop_iterations(kResults, loop_iterations(length)) <= static_cast<uint64_t>(most))
    return {.length = length};
  const auto even = static_cast<int64_t>(std::sqrt(static_cast<double>(kResults * length)));
  const int64_t segment = std::min(std::max(even, kLeast), std::max<int64_t>(1, most - 1));
  return {divide_up(length, segment), segment};
}

}  // namespace

void reduce_to_index(Lowering& lowering, TensorId x, const ExtremumAlong& along, TensorId y) {
  const Segments segments = split_axis(lowering.caps(), along.length);
  const ArgExtremumParameters parameters{.count = along.count,
                                         .length = along.length,
                                         .inner = along.inner,
                                         .last = along.takes_last,
                                         .segment = segments.length};
  const auto dispatch = [&](std::string shader, int64_t invocations, std::vector<Binding> bindings,
                            Parameters with, uint64_t iterations) {
    Dispatch made = make_dispatch(std::move(shader), grid_1d(lowering.caps(), invocations),
                                  std::move(bindings), std::move(with));
    if (along.minimum) define(made, "MIN");
    if (segments.are_many()) define(made, "SEGMENTED");
    made.iterations = iterations;
    lowering.dispatch(std::move(made));
  };
  const int64_t count = along.count;
  if (!segments.are_many())
    return dispatch("arg_extremum", groups_of_four({count}), {reads("x", x), writes("y", y)}, parameters,
                    loop_iterations(kResults, loop_iterations(along.length)));
  const TensorId values = float_workspace(lowering, "values of segments", {segments.count * count});
  const TensorId indices = integer_workspace(lowering, "indices of segments", {segments.count * count});
  dispatch("arg_extremum", segments.count * count,
           {reads("x", x), writes("values", values), writes("indices", indices)}, parameters,
           loop_iterations(segments.length));
  dispatch("arg_parts", groups_of_four({count}),
           {reads("values", values), reads("indices", indices), writes("y", y)},
           ArgPartsParameters{.count = count, .segments = segments.count, .last = along.takes_last},
           loop_iterations(kResults, loop_iterations(segments.count)));
}

void lower_arg(Lowering& lowering) {
  const ArgReduce& op = lowering.op<ArgReduce>();
  const Shape& shape = lowering.input_type(0).shape;
  if (!is_float(lowering.input_type(0).dtype))
    return lowering.run_on_host(std::string(op.type()) + " of integers has no kernel");
  const size_t axis = normalize_axis(op.axis, shape.size());
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(0, Layout::linear);
  reduce_to_index(lowering, x,
                  {.count = element_count(lowering.output_type().shape),
                   .length = shape[axis],
                   .inner = product(shape, axis + 1, shape.size()),
                   .minimum = op.minimum,
                   .takes_last = op.select_last_index},
                  y);
}

}  // namespace vellum
