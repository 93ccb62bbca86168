#include "kernels/conv/pointwise.hpp"

#include "kernels/framework/activation.hpp"
#include "kernels/conv/cooperative.hpp"
#include "kernels/elementwise/elementwise.hpp"
#include "kernels/matmul/sum_parts.hpp"

namespace vellum {
namespace {

// Devices promise four buffers for a dispatch; images that are read may be sampled ones, of which there are
// more.
bool has_room_for_scale(const Lowering& lowering, TensorId x, const ConvExtras& extras) {
  const uint32_t tensors = extras.residual == kNoTensor ? 4 : 5;
  return lowering.tensor(x).desc.storage != Storage::buffer ||
         tensors <= lowering.caps().max_storage_buffers_per_stage;
}

TensorId scaled(Lowering& lowering, TensorId x, TensorId scale) {
  const TensorDesc desc = lowering.tensor(x).desc;
  const TensorId result = lowering.workspace(lowering.node().name + "/scaled", desc);
  combine(lowering, "Mul", {}, Layout::channels4, {x, desc.shape}, {scale, lowering.tensor(scale).desc.shape},
          {result, desc.shape});
  return result;
}

}  // namespace

void dispatch_pointwise(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                        const ConvTile& tile, const Activation& activation, WeightValues values,
                        const ConvExtras& extras) {
  if (tile.cooperative)
    return dispatch_cooperative(lowering, x, y, weights, *tile.cooperative, {}, activation, std::move(values),
                                extras);
  const Shape& shape = lowering.tensor(x).desc.shape;
  const auto [n, c, h, w] = nchw(shape);
  const TensorId grid =
      packed_weights(lowering, weight_grid(lowering, weights.width(), weights.height()), std::move(values));
  const int64_t blocks = whole_subgroups(lowering.caps(), tile, divide_up(n * h * w, tile.pixels));
  const SumTarget whole{y, activation, extras.residual}, now = target_of_parts(lowering, whole, tile.parts);
  Dispatch dispatch =
      conv_dispatch(lowering, "conv_pointwise", blocks * weights.blocks() * tile.parts, x, grid, now.y);
  if (tile.by_subgroups) dispatch.subgroup_size = lowering.caps().subgroup_size;
  define_tile(dispatch, tile);
  define_halves(dispatch, weights.run);
  define_activation_or_bounds(dispatch, now.activation);
  PushConstants constants;
  constants.shape(shape).shape(lowering.tensor(now.y).desc.shape);
  push_activation_or_bounds(constants, now.activation);
  add_extras(lowering, dispatch, constants, {now.residual, extras.scale}, n);
  dispatch.push_constants = constants.bytes();
  lowering.dispatch(std::move(dispatch));
  sum_parts(lowering, now, whole);
}

void lower_pointwise(Lowering& lowering, const Activation& activation) {
  const Shape& x_shape = lowering.input_type(0).shape;
  ConvTile tile = choose_pointwise_tile(lowering, x_shape, lowering.output_type().shape[1]);
  ConvWeights weights = weights_for(lowering, 1, 1, tile);
  if (tile.is_plain() && should_multiply_halves(lowering)) weights.run = kRunOfSlices;
  ConvExtras extras{.residual = read_residual(lowering)};
  if (lowering.has_input(4)) extras.scale = lowering.read(4, Layout::channels4);
  TensorId x = lowering.read(0, Layout::channels4);
  if (extras.scale != kNoTensor && !has_room_for_scale(lowering, x, extras)) {
    x = scaled(lowering, x, extras.scale);
    extras.scale = kNoTensor;
  }
  const TensorId y = lowering.write(0, Layout::channels4);
  dispatch_pointwise(lowering, x, y, weights, tile, activation, conv_values(lowering, weights), extras);
}

}  // namespace vellum
