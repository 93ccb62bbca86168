#include "kernels/conv/dispatch.hpp"

#include "caps/device_policy.hpp"
#include "kernels/conv/split_k.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "shaders/conv/conv_window.h"

namespace vellum {

void add_residual(Dispatch& dispatch, TensorId residual) {
  dispatch.bindings.push_back(reads_in_place("residual", residual));
  define(dispatch, "RESIDUAL");
}

ConvGrid conv_grid(const DeviceCaps& caps, Storage weights, const InvocationTile& tile,
                   const BlockCounts& blocks, int64_t invocations) {
  if (blocks.pixels > 0 && weights == Storage::buffer && !tile.broadcasts() &&
      device_policy(caps).loads_uniform_weights_cheaply(caps))
    if (const std::optional<Grid> rows = grid_of_rows(caps, blocks.pixels, blocks.slices, blocks.layers))
      return {*rows, true};
  return {grid_1d(caps, invocations)};
}

ivec4 residual_shape(const Lowering& lowering, TensorId residual) {
  if (residual == kNoTensor) return {0, 0, 0, 0};
  return texel_shape(lowering.tensor(residual).desc.shape);
}

void add_extras(Dispatch& dispatch, const ConvExtras& extras, int64_t images) {
  if (extras.residual != kNoTensor) add_residual(dispatch, extras.residual);
  if (extras.scale == kNoTensor) return;
  define(dispatch, "SCALE");
  if (images > 1) define(dispatch, "SCALE_OF_IMAGES");
  dispatch.bindings.push_back(reads("scale", extras.scale));
}

TensorId read_residual(Lowering& lowering) {
  return lowering.has_input(3) ? lowering.read(3, Layout::channels4) : kNoTensor;
}

ConvWeights conv_weights(const Lowering& lowering, int64_t groups, int64_t taps, int64_t tile_slices) {
  ConvWeights weights{lowering.input_type(0).shape[1], lowering.output_type().shape[1], groups, taps, 1};
  const int64_t narrowest = weights.window_slices();
  for (weights.tile_slices = tile_slices; weights.window_slices() > narrowest;) weights.tile_slices /= 2;
  return weights;
}

void dispatch_conv(Lowering& lowering, const ConvKernel& kernel, const Window2d& window,
                   const Activation& activation, WeightValues values) {
  const ConvWeights& weights = kernel.weights;
  const TensorId x = lowering.read(0, Layout::channels4);
  const TensorId grid =
      packed_weights(lowering, weight_grid(lowering, weights.width(), weights.height()), std::move(values));
  const SumTarget whole{lowering.write(0, Layout::channels4), activation, read_residual(lowering)};
  const SumTarget target = partial_sums(lowering, whole, kernel.tile.split_k());
  const DeviceCaps& caps = lowering.caps();
  const ConvGrid groups =
      conv_grid(caps, lowering.tensor(grid).desc.storage, kernel.tile,
                {kernel.image_blocks, weights.blocks(), lowering.tensor(target.y).desc.shape[0]},
                kernel.invocations * kernel.tile.split_k());
  Dispatch dispatch =
      make_dispatch(kernel.shader, groups.grid, {reads("x", x), reads("w", grid), writes("y", target.y)},
                    ConvWindowParameters{.x_shape = texel_shape(lowering.input_type(0).shape),
                                         .y_shape = texel_shape(lowering.tensor(target.y).desc.shape),
                                         .activation_params = activation_params_or_bounds(target.activation),
                                         .residual_shape = residual_shape(lowering, target.residual),
                                         .kernel_size = window_pair(window.kernel),
                                         .stride = window_pair(window.stride),
                                         .dilation = window_pair(window.dilation),
                                         .padding = window_pair(window.padding),
                                         .group_inputs = weights.group_inputs(),
                                         .group_outputs = weights.group_outputs(),
                                         .parts = kernel.tile.split_k(),
                                         .window_slices = weights.window_slices()});
  dispatch.defines = kernel.defines;
  dispatch.macs = lowering.macs();
  if (kernel.tile.broadcasts()) dispatch.subgroup_size = lowering.caps().subgroup_size;
  define_tile(dispatch, kernel.tile);
  if (groups.uniform) define(dispatch, "UNIFORM_SLICES");
  define_halves(dispatch, weights.run);
  define_activation_or_bounds(dispatch, target.activation);
  add_extras(dispatch, {.residual = target.residual}, 1);
  lowering.dispatch(std::move(dispatch));
  reduce_partial_sums(lowering, target, whole);
}

}  // namespace vellum
