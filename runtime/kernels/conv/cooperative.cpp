#include "kernels/conv/cooperative.hpp"

#include "kernels/framework/activation.hpp"

namespace vellum {

void dispatch_cooperative(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                          const CooperativeTile& tile, const Window2d& window, const Activation& activation,
                          WeightValues values, const ConvExtras& extras) {
  const TensorId grid =
      packed_weights(lowering, weight_grid(lowering, weights.width(), weights.height()), std::move(values));
  const Shape &x_shape = lowering.tensor(x).desc.shape, &y_shape = lowering.tensor(y).desc.shape;
  const auto [n, channels, height, width] = nchw(y_shape);
  Dispatch dispatch;
  dispatch.shader = "conv_cooperative";
  dispatch.bindings = {{x, Access::read}, {grid, Access::read}, {y, Access::write}};
  cover_with(dispatch, lowering.caps(), tile, tile.blocks(n * height * width, channels));
  define_activation_or_bounds(dispatch, activation);
  PushConstants constants;
  constants.shape(x_shape).shape(y_shape);
  push_activation_or_bounds(constants, activation);
  push_window(constants, window);
  add_extras(lowering, dispatch, constants, extras, n);
  dispatch.push_constants = constants.bytes();
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum
