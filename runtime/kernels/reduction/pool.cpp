// Lowers pools over windows, and global pools, which are reductions.
#include "kernels/reduction/pool.hpp"

#include <algorithm>

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

// Returns (along W, along H) of a list over one or two spatial axes.
ivec2 pair(const std::vector<int64_t>& list, int64_t missing) {
  return {list.back(), list.size() > 1 ? list.front() : missing};
}

// Returns the iterations of the nested loops over a window.
uint64_t iterations_of(const WindowPlacement& window) {
  uint64_t nested = 0;
  for (size_t axis = window.kernel.size(); axis-- > 0;) nested = loop_iterations(window.kernel[axis], nested);
  return nested;
}

// Returns the iterations of an invocation of pool_volume.comp, which computes four elements.
uint64_t iterations_of_volumes(const WindowPlacement& window) {
  return loop_iterations(4, iterations_of(window));
}

// Returns the iterations of an invocation of pool.comp. It also has a loop over rows for windows of one
// dimension.
uint64_t iterations_of_texels(const WindowPlacement& window) {
  return iterations_of(window) + loop_iterations(1);
}

// Dispatches the kernel for the second output of MaxPool.
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

// A pass over a whole window, or over one axis of it. LpPool stores sums of powers between passes.
struct PoolPass {
  WindowPlacement window;
  bool is_first = true, is_last = true;
};

bool is_identity(const WindowPlacement& window, size_t axis) {
  return window.kernel[axis] == 1 && window.input[axis] == window.output[axis] && window.strides[axis] == 1 &&
         window.pads_begin[axis] == 0;
}

// Returns one pass for each axis, the last axis first. The maximum, the sum and the number of taps of a
// window follow from the results of its rows.
std::vector<PoolPass> passes_over_axes(const WindowPlacement& window) {
  std::vector<PoolPass> passes;
  WindowPlacement rest = window;  // the axes that are still to be pooled
  for (size_t axis = window.kernel.size(); axis-- > 0;) {
    if (is_identity(window, axis)) continue;
    WindowPlacement one = rest;
    for (size_t other = 0; other < window.kernel.size(); ++other) {
      if (other == axis) continue;
      one.kernel[other] = one.strides[other] = one.dilations[other] = 1;
      one.pads_begin[other] = one.pads_end[other] = 0;
      one.output[other] = one.input[other];
    }
    rest.input[axis] = window.output[axis];
    passes.push_back({one, passes.empty(), false});
  }
  if (passes.empty()) return {{window}};
  passes.back().is_last = true;
  return passes;
}

// Returns the taps that passes over axes load, relative to one pass over the window. The result does not
// depend on the sizes of x and y, so that strips of a layer use the same passes as the whole layer, and have
// the same bits.
double taps_of_passes(const WindowPlacement& window) {
  double part = 0, of_all = 1;
  for (const int64_t kernel : window.kernel) of_all *= static_cast<double>(kernel);
  double rows = 1;  // elements along the axes that are still to be pooled, for each element of the result
  for (size_t axis = 0; axis < window.kernel.size(); ++axis) {
    part += rows * static_cast<double>(window.kernel[axis]) / of_all;
    rows *= static_cast<double>(window.strides[axis]);
  }
  return part;
}

// Returns the passes: one over the window, or one for each axis if a single pass would have too many
// iterations or be clearly slower. On lavapipe an average over 32x32 elements takes a sixth of the time by
// axes. `iterations`: of a single pass.
std::vector<PoolPass> passes_over(const DeviceCaps& caps, const Pool& op, const WindowPlacement& window,
                                  uint64_t iterations) {
  constexpr uint64_t kMostIterations = 65535, kLargeWindow = 256;
  if (op.averages_integers()) return {{window}};
  constexpr double kLess = 0.5;
  if (iterations <= std::min<uint64_t>(kLargeWindow, caps.max_loop_iterations)) return {{window}};
  const bool is_too_long = iterations > std::min<uint64_t>(kMostIterations, caps.max_loop_iterations);
  if (!is_too_long && taps_of_passes(window) > kLess) return {{window}};
  return passes_over_axes(window);
}

void define_pass(Dispatch& dispatch, const Pool& op, const PoolPass& pass) {
  define(dispatch, macro_of(op.kind));
  if (op.kind == PoolKind::average) define_activation(dispatch, pass.is_last ? op.activation : Activation());
  if (op.kind == PoolKind::lp && !pass.is_first) define(dispatch, "OF_POWERS");
  if (op.kind == PoolKind::lp && !pass.is_last) define(dispatch, "TO_POWERS");
}

// Returns the shape after a pass, with N and C of `shape`.
Shape shape_after(const Shape& shape, const PoolPass& pass) {
  Shape result(shape.begin(), shape.begin() + 2);
  result.insert(result.end(), pass.window.output.begin(), pass.window.output.end());
  return result;
}

void pool_volumes(Lowering& lowering, const Pool& op, const PoolPass& pass, TensorId x, TensorId y) {
  const WindowPlacement& window = pass.window;
  const Shape& shape = lowering.tensor(y).desc.shape;
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
  define_pass(dispatch, op, pass);
  dispatch.iterations = iterations_of_volumes(window);
  lowering.dispatch(std::move(dispatch));
}

void pool_volumes(Lowering& lowering, const Pool& op, const WindowPlacement& window) {
  TensorId x = lowering.read(0, Layout::linear);
  const TensorId y = lowering.write(0, Layout::linear);
  for (const PoolPass& pass : passes_over(lowering.caps(), op, window, iterations_of_volumes(window))) {
    const TensorId to = pass.is_last
                            ? y
                            : lowering.workspace(lowering.node().name + "/along one axis",
                                                 {shape_after(lowering.tensor(y).desc.shape, pass),
                                                  ElementType::f32, Storage::buffer, Layout::linear});
    pool_volumes(lowering, op, pass, x, to);
    x = to;
  }
}

void pool_texels(Lowering& lowering, const Pool& op, const PoolPass& pass, TensorId x, TensorId y) {
  const WindowPlacement& window = pass.window;
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
  define_pass(dispatch, op, pass);
  if (op.kind == PoolKind::average && lowering.caps().exact_division) define(dispatch, "EXACT_DIVISION");
  if (op.averages_integers()) {
    define(dispatch, "FIXED_AVERAGE");
    dispatch.appended.emplace_back("fixed_zero", op.fixed_average.zero);
  }
  dispatch.iterations = iterations_of_texels(window);
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

void dispatch_pool(Lowering& lowering, const Pool& op, const WindowPlacement& window, TensorId x,
                   TensorId y) {
  for (const PoolPass& pass : passes_over(lowering.caps(), op, window, iterations_of_texels(window))) {
    TensorId to = y;
    if (!pass.is_last) {
      TensorDesc desc = lowering.tensor(x).desc;
      desc.shape = shape_after(lowering.tensor(y).desc.shape, pass);
      desc.element = ElementType::f32;
      if (desc.storage != Storage::buffer) lowering.choose_storage(desc);
      to = lowering.workspace(lowering.node().name + "/along one axis", desc);
    }
    pool_texels(lowering, op, pass, x, to);
    x = to;
  }
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
