#include "kernels/conv/conv_mean.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "caps/cooperative_matrix.hpp"
#include "cost/device_traits.hpp"
#include "kernels/conv/pointwise.hpp"
#include "kernels/framework/elements.hpp"

namespace vellum {
namespace {

bool has_mean_kernel(const ConvMean& op, const std::vector<OperatorInput>& inputs) {
  const Shape& x = inputs[0].type.shape;
  return x.size() <= 4 && x[0] == 1 && op.conv.group == 1 &&
         is_pointwise(to_2d(op.conv.place(std::span(inputs).first(2)))) && element_count(x) > 0;
}

// The quickest tile with which a workgroup holds all pixels.
std::optional<InvocationTile> mean_tile(const std::vector<OperatorInput>& inputs, const DeviceCaps& caps) {
  const auto [n, c, h, w] = nchw(inputs[0].type.shape);
  const int64_t outputs = inputs[1].type.shape[0];
  const TileDemand demand{h * w, 1, slices(outputs), h * w * c * outputs, {}, true};
  std::vector<SplitTile> tiles = quick_tiles(caps, demand, slices(c));
  if (!device_traits(caps).averages_in_quick_tiles)
    for (const int64_t pixels : {1, 2, 4, 8}) tiles.push_back({{pixels, 1}, 1, 0});
  for (const SplitTile& tile : tiles) {
    const InvocationTile made =
        tile.split_k > 1 ? InvocationTile{tile.tile, SplitK{tile.split_k}} : InvocationTile{tile.tile};
    if (holds_all_pixels(caps, made, h * w)) return made;
  }
  return std::nullopt;
}

}  // namespace

bool takes_mean(const ConvMean& op, const std::vector<OperatorInput>& inputs, const DeviceCaps& caps,
                Precision precision) {
  if (!has_mean_kernel(op, inputs) || !device_traits(caps).fuses_global_average) return false;
  if (precision == Precision::fp16 && !half_products(caps).empty()) return false;
  const auto has = [&](size_t slot) { return slot < inputs.size() && inputs[slot].present; };
  const uint32_t tensors = 3u + has(3) + has(4);
  return tensors <= caps.max_storage_buffers_per_stage && mean_tile(inputs, caps).has_value();
}

void lower_conv_mean(Lowering& lowering) {
  const auto& op = lowering.op<ConvMean>();
  const std::vector<OperatorInput> inputs = operator_inputs(lowering);
  const std::optional<InvocationTile> tile =
      has_mean_kernel(op, inputs) ? mean_tile(inputs, lowering.caps()) : std::nullopt;
  if (!tile) return lowering.run_on_host("no workgroup holds all pixels");
  ConvWeights weights{inputs[0].type.shape[1], inputs[1].type.shape[0], 1, 1, tile->output.slices};
  if (should_multiply_halves(lowering)) weights.run = kRunOfSlices;
  ConvExtras extras{.residual = lowering.has_input(3) ? lowering.read(3, Layout::channels4) : kNoTensor,
                    .mean = true};
  if (lowering.has_input(4)) extras.scale = lowering.read(4, Layout::channels4);
  const TensorId x = lowering.read(0, Layout::channels4);
  dispatch_pointwise(lowering, x, lowering.write(0, Layout::channels4), weights, *tile, op.conv.activation,
                     conv_values(lowering, weights), extras);
}

}  // namespace vellum
