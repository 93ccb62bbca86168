// ConvTranspose.
#include "graph/operators/conv_transpose.hpp"

#include <algorithm>

#include "kernels/conv/dispatch.hpp"

namespace vellum {
namespace {

// W (C, M / group, kernel...).
WeightValues conv_transpose_values(const Lowering& lowering, const ConvWeights& grid) {
  auto make = [grid, weights = weights_of(lowering), bias = bias_of(lowering)] {
    const std::vector<float> w = weights.to_floats();
    return grid.pack(
        [&](int64_t m, int64_t c, int64_t tap) {
          const int64_t input = m / grid.group_outputs() * grid.group_inputs() + c;
          return w[static_cast<size_t>((input * grid.group_outputs() + m % grid.group_outputs()) * grid.taps +
                                       tap)];
        },
        bias);
  };
  return packing(lowering, "conv_transpose " + grid.to_text(), std::move(make));
}

}  // namespace

void lower_conv_transpose(Lowering& lowering) {
  if (lowering.input_type(0).shape.size() > 4) return lowering.run_on_host("it has three spatial dimensions");
  const ConvTranspose& conv = lowering.op<ConvTranspose>();
  const Window2d window = window_of<ConvTranspose>(lowering);
  if (!fits_32_bits(window)) return lowering.run_on_host("its window is too large");
  const auto [n, channels, height, width] = nchw(lowering.output_type().shape);
  // Pixels of one phase have the same remainder by the stride, and are reached by the same taps.
  const int64_t phases = std::min(window.stride[0], width) * std::min(window.stride[1], height);
  const int64_t line = divide_up(width, window.stride[0]);
  const int64_t lines = divide_up(height, window.stride[1]) * phases * n;
  const auto [x_n, x_channels, x_height, x_width] = nchw(lowering.input_type(0).shape);
  const int64_t macs = n * x_channels * x_height * x_width * window.taps() * (channels / conv.group);
  const ConvTile tile =
      choose_tile(lowering, "transposed", conv_tiles(lowering.caps(), line, lines, slices(channels), macs));
  ConvKernel kernel{"conv_transpose", tile, {}, 0, {}};
  kernel.weights = weights_for(lowering, conv.group, window.taps(), kernel.tile);
  if (should_multiply_halves(lowering)) kernel.weights.run = kRunOfSlices;
  kernel.invocations = divide_up(line, kernel.tile.pixels) * lines * kernel.weights.blocks();
  dispatch_conv(lowering, kernel, window, conv.activation, conv_transpose_values(lowering, kernel.weights));
}

}  // namespace vellum
