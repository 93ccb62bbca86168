#include "kernels/conv_depthwise.hpp"

#include "kernels/activation.hpp"
#include "kernels/conv_dispatch.hpp"

namespace vellum {
namespace {

// One texel row per slice: its taps, then the bias.
std::vector<float> pack_depthwise(int64_t channels, int64_t taps, const std::vector<float>& weights,
                                  const std::vector<float>& bias) {
  std::vector<float> texels(static_cast<size_t>(4 * slices(channels) * (taps + 1)));
  for (int64_t c = 0; c < channels; ++c) {
    float* row = texels.data() + c / 4 * 4 * (taps + 1) + c % 4;
    for (int64_t tap = 0; tap < taps; ++tap) row[4 * tap] = weights[static_cast<size_t>(c * taps + tap)];
    if (!bias.empty()) row[4 * taps] = bias[static_cast<size_t>(c)];
  }
  return texels;
}

// The common windows have variants that load each column of a row once; others share one shader.
void define_depthwise_window(Dispatch& dispatch, const Window2d& window) {
  const bool common =
      (window.kernel[0] == 3 || window.kernel[0] == 5) && window.stride[0] <= 2 && window.dilation[0] == 1;
  dispatch.defines.emplace_back("KERNEL_X", common ? std::to_string(window.kernel[0]) : "0");
  dispatch.defines.emplace_back("STRIDE_X", common ? std::to_string(window.stride[0]) : "0");
}

}  // namespace

void lower_depthwise(Lowering& lowering, const Window2d& window, const Activation& activation) {
  const auto [n, channels, height, width] = nchw(lowering.output_type().shape);
  const HostTensor weights = weights_of(lowering);
  const ConvTile tile = choose_tile(lowering, "depthwise",
                                    conv_tiles(lowering.caps(), width, height * n * slices(channels), 1, 0));
  const TensorId x = lowering.read(0, Layout::channels4);
  const auto make = [weights, channels = channels, taps = window.taps(), bias = bias_of(lowering)] {
    return pack_depthwise(channels, taps, weights.to_floats(), bias);
  };
  const TensorId grid = packed_weights(lowering, weight_grid(lowering, window.taps() + 1, slices(channels)),
                                       packing(lowering, "depthwise", make));
  const TensorId y = lowering.write(0, Layout::channels4);
  const int64_t invocations = divide_up(width, tile.pixels) * height * slices(channels) * n;
  Dispatch dispatch = conv_dispatch(lowering, "conv_depthwise", invocations, x, grid, y);
  dispatch.defines.emplace_back("TILE_P", std::to_string(tile.pixels));
  define_depthwise_window(dispatch, window);
  define_activation_or_bounds(dispatch, activation);
  PushConstants constants;
  constants.shape(lowering.input_type(0).shape).shape(lowering.output_type().shape);
  push_activation_or_bounds(constants, activation);
  push_window(constants, window);
  add_extras(lowering, dispatch, constants, {.residual = read_residual(lowering)}, n);
  dispatch.push_constants = constants.bytes();
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum
