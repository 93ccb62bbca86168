#include "kernels/conv/dispatch.hpp"

#include "kernels/conv/split_k.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"

namespace vellum {

Dispatch conv_dispatch(const Lowering& lowering, std::string shader, int64_t invocations, TensorId x,
                       TensorId w, TensorId y) {
  return make_dispatch(std::move(shader), grid_1d(lowering.caps(), invocations),
                       {reads(x), reads(w), writes(y)}, {});
}

void add_residual(const Lowering& lowering, Dispatch& dispatch, PushConstants& constants, TensorId residual) {
  constants.shape(lowering.tensor(residual).desc.shape);
  dispatch.bindings.push_back({.tensor = residual, .same_position = true});
  dispatch.defines.emplace_back("RESIDUAL", "1");
}

namespace {

// SCALE says which binding it is.
void add_scale(Dispatch& dispatch, TensorId scale, int64_t images) {
  dispatch.defines.emplace_back("SCALE", std::to_string(dispatch.bindings.size()));
  if (images > 1) dispatch.defines.emplace_back("SCALE_OF_IMAGES", "1");
  dispatch.bindings.push_back({scale, Access::read});
}

}  // namespace

void add_extras(const Lowering& lowering, Dispatch& dispatch, PushConstants& constants,
                const ConvExtras& extras, int64_t images) {
  if (extras.residual != kNoTensor) add_residual(lowering, dispatch, constants, extras.residual);
  if (extras.scale != kNoTensor) add_scale(dispatch, extras.scale, images);
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
  Dispatch dispatch =
      conv_dispatch(lowering, kernel.shader, kernel.invocations * kernel.tile.split_k(), x, grid, target.y);
  dispatch.defines = kernel.defines;
  if (kernel.tile.broadcasts()) dispatch.subgroup_size = lowering.caps().subgroup_size;
  define_tile(dispatch, kernel.tile);
  define_halves(dispatch, weights.run);
  define_activation_or_bounds(dispatch, target.activation);
  PushConstants constants;
  constants.shape(lowering.input_type(0).shape).shape(lowering.tensor(target.y).desc.shape);
  push_activation_or_bounds(constants, target.activation);
  push_window(constants, window);
  constants.ints({weights.group_inputs(), weights.group_outputs(), weights.window_slices()});
  add_extras(lowering, dispatch, constants, {.residual = target.residual}, 1);
  dispatch.push_constants = constants.bytes();
  lowering.dispatch(std::move(dispatch));
  reduce_partial_sums(lowering, target, whole);
}

}  // namespace vellum
