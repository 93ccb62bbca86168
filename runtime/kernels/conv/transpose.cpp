// Lowers ConvTranspose (conv_transpose.comp).
#include <algorithm>

#include "graph/operators/conv/conv_transpose.hpp"
#include "kernels/conv/dispatch.hpp"

namespace vellum {
namespace {

// Returns the weights, of shape (C, M / group, kernel...), as the texels of `grid`.
WeightValues conv_transpose_values(const Lowering& lowering, const ConvWeights& grid) {
  const auto make = [grid, weights = weights_of(lowering), bias = bias_of(lowering)](auto pack) {
    const std::vector<float> w = weights.to_floats();
    return (grid.*pack)(
        [&](int64_t m, int64_t c, int64_t tap) {
          return w[static_cast<size_t>(
              transposed_weight_index(grid.group_inputs(), grid.group_outputs(), grid.taps, m, c, tap))];
        },
        bias);
  };
  WeightValues values =
      values_of_packing(lowering, {PackingScheme::conv_transpose, grid.packing_parameters()},
                        [make] { return make(&ConvWeights::pack); });
  if (grid.bytes) values.make_bytes = [make] { return make(&ConvWeights::pack_bytes); };
  return values;
}

// Returns the demand of tiles, each of which has pixels of one phase. Pixels of a phase have the same
// remainder modulo the stride and read the same taps.
TileDemand lines_of_phases(const Lowering& lowering, const Window2d& window, const Shape& x, const Shape& y) {
  const auto [n, channels, height, width] = nchw(y);
  const auto [x_n, x_channels, x_height, x_width] = nchw(x);
  const int64_t group = lowering.op<ConvTranspose>().group;
  const int64_t phases = std::min(window.stride[0], width) * std::min(window.stride[1], height);
  return {divide_up(width, window.stride[0]), divide_up(height, window.stride[1]) * phases * n,
          slices(channels), n * x_channels * x_height * x_width * window.taps() * (channels / group)};
}

void emit_transposed(Lowering& lowering, const Window2d& window, const TileDemand& demand,
                     const OutputTile& tile, const ByteWeightsPointer& narrow) {
  const ConvTranspose& conv = lowering.op<ConvTranspose>();
  ConvKernel kernel{"conv_transpose", {tile}, {}, 0, {}};
  kernel.weights = conv_weights(lowering, conv.group, window.taps(), tile.slices);
  kernel.tile.output.slices = kernel.weights.tile_slices;
  if (narrow)
    kernel.weights.bytes = narrow;
  else if (should_multiply_halves(lowering))
    kernel.weights.run = kRunOfSlices;
  else
    kernel.weights.bytes = transposed_byte_weights(lowering, kernel.weights.taps);
  kernel.tiles = divide_up(demand.length, tile.pixels) * demand.lines * kernel.weights.blocks();
  dispatch_conv(lowering, kernel, window, conv.activation, conv_transpose_values(lowering, kernel.weights));
}

}  // namespace

void lower_conv_transpose(Lowering& lowering) {
  if (lowering.input_type(0).shape.size() > 4) return lowering.run_on_host("it has three spatial dimensions");
  const Window2d window = window_of<ConvTranspose>(lowering);
  if (!fits_32_bits(window)) return lowering.run_on_host("its window is too large");
  const TileDemand demand =
      lines_of_phases(lowering, window, lowering.input_type(0).shape, lowering.output_type().shape);
  const Shape& whole_x = lowering.whole_graph().values[lowering.whole_node().inputs[0]].type.shape;
  const ByteWeightsPointer narrow = transposed_narrow_weights(lowering, window.taps());
  std::vector<KernelCandidate> candidates;
  for (const auto& [tile, cost, us] :
       output_tiles(lowering.caps(), lines_of_phases(lowering, window, whole_x, lowering.whole_shape())))
    candidates.push_back({tile_name("transposed", {tile}), cost, [=, tile = tile](Lowering& of_node) {
                            emit_transposed(of_node, window, demand, tile, narrow);
                          }});
  lowering.emit_best(candidates);
}

}  // namespace vellum
