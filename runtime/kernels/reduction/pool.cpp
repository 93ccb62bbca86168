// Pools over windows, and over whole planes as reductions.
#include "kernels/reduction/pool.hpp"

#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/reduction/reduce.hpp"
#include "shaders/reduction/max_pool_indices.h"
#include "shaders/reduction/pool.h"
#include "shaders/reduction/pool_volume.h"

namespace vellum {

namespace {

const char* macro_of(PoolKind kind) {
  switch (kind) {
    case PoolKind::max:
      return "MAX";
    case PoolKind::average:
      return "AVERAGE";
    case PoolKind::lp:
      return "LP";
  }
  return "";
}

// (along W, along H) of a list over the one or two spatial axes.
ivec2 pair(const std::vector<int64_t>& list, int64_t missing) {
  return {list.back(), list.size() > 1 ? list.front() : missing};
}

// The iterations of the loops over a window, one in the other.
uint64_t iterations_of(const WindowPlacement& window) {
  uint64_t nested = 0;
  for (size_t axis = window.kernel.size(); axis-- > 0;) nested = loop_iterations(window.kernel[axis], nested);
  return nested;
}

// The second output of MaxPool.
void find_maxima(Lowering& lowering, const Pool& op, const WindowPlacement& window) {
  const Shape& shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(1, Layout::linear);
  Dispatch dispatch = make_dispatch("max_pool_indices", grid_1d(lowering.caps(), groups_of_four(shape)),
                                    {reads("x", x), writes("indices", y)},
                                    MaxPoolIndicesParameters{.count = element_count(shape),
                                                             .column_major = op.column_major_indices,
                                                             .x_size = pair(window.input, 1),
                                                             .y_size = pair(window.output, 1),
                                                             .kernel = pair(window.kernel, 1),
                                                             .stride = pair(window.strides, 1),
                                                             .dilation = pair(window.dilations, 1),
                                                             .pad_begin = pair(window.pads_begin, 0)});
  if (op.window_indices) define(dispatch, "WINDOW");
  dispatch.iterations = loop_iterations(4, iterations_of(window));
  lowering.dispatch(std::move(dispatch));
}

void pool_volumes(Lowering& lowering, const Pool& op, const WindowPlacement& window) {
  const Shape& shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(0, Layout::linear);
  Dispatch dispatch = make_dispatch(
      "pool_volume", grid_1d(lowering.caps(), groups_of_four(shape)), {reads("x", x), writes("y", y)},
      PoolVolumeParameters{.activation_params = activation_params(op.activation),
                           .count = element_count(shape),
                           .count_include_pad = op.count_include_pad,
                           .p_norm = static_cast<float>(op.p),
                           .x_size = window.input,
                           .y_size = window.output,
                           .kernel = window.kernel,
                           .stride = window.strides,
                           .dilation = window.dilations,
                           .pad_begin = window.pads_begin,
                           .pad_end = window.pads_end});
  define(dispatch, macro_of(op.kind));
  if (op.kind == PoolKind::average) define_activation(dispatch, op.activation);
  dispatch.iterations = loop_iterations(4, iterations_of(window));
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

void dispatch_pool(Lowering& lowering, const Pool& op, const WindowPlacement& window, TensorId x,
                   TensorId y) {
  const Shape& shape = lowering.tensor(y).desc.shape;
  Dispatch dispatch =
      make_dispatch("pool", grid_of_texels(lowering.caps(), shape), {reads("x", x), writes("y", y)},
                    PoolParameters{.activation_params = activation_params(op.activation),
                                   .x_shape = texel_shape(lowering.tensor(x).desc.shape),
                                   .y_shape = texel_shape(shape),
                                   .kernel = pair(window.kernel, 1),
                                   .stride = pair(window.strides, 1),
                                   .dilation = pair(window.dilations, 1),
                                   .pad_begin = pair(window.pads_begin, 0),
                                   .pad_end = pair(window.pads_end, 0),
                                   .count_include_pad = op.count_include_pad,
                                   .p_norm = static_cast<float>(op.p)});
  define(dispatch, macro_of(op.kind));
  if (op.kind == PoolKind::average) define_activation(dispatch, op.activation);
  // One dimension has a loop over rows as well.
  dispatch.iterations = iterations_of(window) + loop_iterations(1);
  lowering.dispatch(std::move(dispatch));
}

void lower_pool(Lowering& lowering) {
  const Pool& op = lowering.op<Pool>();
  const std::string name(op.type());
  const bool volumes = lowering.input_type(0).shape.size() > 4;
  if (volumes && lowering.is_read(1))
    return lowering.run_on_host(name + " over volumes with positions has no kernel");
  if (!is_float(lowering.input_type(0).dtype))
    return lowering.run_on_host(name + " of integers has no kernel");
  const WindowPlacement window = op.place(operator_inputs(lowering));
  if (volumes) return pool_volumes(lowering, op, window);
  if (lowering.is_read(1)) find_maxima(lowering, op, window);
  if (!lowering.is_read(0)) return;
  dispatch_pool(lowering, op, window, lowering.read(0, Layout::channels4),
                lowering.write(0, Layout::channels4));
}

void lower_global_pool(Lowering& lowering) {
  const GlobalPool& op = lowering.op<GlobalPool>();
  std::vector<bool> reduced(lowering.input_type(0).shape.size(), true);
  reduced[0] = reduced[1] = false;
  switch (op.kind) {
    case PoolKind::max:
      return reduce(lowering, "ReduceMax", reduced);
    case PoolKind::average:
      return reduce(lowering, "ReduceMean", reduced);
    case PoolKind::lp:
      if (op.p == 1) return reduce(lowering, "ReduceL1", reduced);
      if (op.p == 2) return reduce(lowering, "ReduceL2", reduced);
      return lowering.run_on_host("GlobalLpPool of this norm has no kernel");
  }
}

}  // namespace vellum
