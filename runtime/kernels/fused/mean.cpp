#include "kernels/fused/mean.hpp"

#include <optional>
#include <span>
#include <utility>

#include "caps/cooperative_matrix.hpp"
#include "cost/device_traits.hpp"
#include "cost/tiles.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "kernels/conv/pointwise.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/fused/matching.hpp"

namespace vellum {
namespace {

constexpr size_t kMeanConv = 0, kMeanResidual = 3, kMeanScale = 4;

bool has_mean_kernel(const Conv& conv, const std::vector<OperatorInput>& inputs) {
  const Shape& x = inputs[0].type.shape;
  return x.size() <= 4 && x[0] == 1 && conv.group == 1 &&
         is_pointwise(to_2d(conv.place(std::span(inputs).first(2)))) && element_count(x) > 0;
}

// Returns the quickest tile with which one workgroup computes all pixels.
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

std::shared_ptr<const FusedNodes> mean_nodes(std::shared_ptr<const Operator> conv) {
  auto pool = std::make_shared<GlobalPool>();
  pool->kind = PoolKind::average;
  auto op = std::make_shared<FusedNodes>(FusedKernelId::mean);
  const ValueId pixels = op->add_node("conv", std::move(conv), op->add_inputs(5));
  op->add_output(op->add_node("mean", std::move(pool), {pixels}));
  return op;
}

bool gains_by_mean(const FusedNodes& op, const std::vector<OperatorInput>& inputs, const DeviceCaps& caps,
                   Precision precision) {
  if (!has_mean_kernel(op.op<Conv>(kMeanConv), inputs) || !device_traits(caps).fuses_global_average)
    return false;
  if (precision == Precision::fp16 && !half_products(caps).empty()) return false;
  const auto has = [&](size_t slot) { return slot < inputs.size() && inputs[slot].present; };
  const uint32_t tensors = 3u + has(kMeanResidual) + has(kMeanScale);
  return tensors <= caps.max_storage_buffers_per_stage && mean_tile(inputs, caps).has_value();
}

// Matches a 1x1 convolution whose only reader is a global average pool.
std::optional<FusedMatch> match_mean(const GraphEditor& editor, size_t index, const FusionContext& context) {
  const auto pool = match_node<GlobalPool>(editor, index);
  if (!pool || pool->kind != PoolKind::average || !is_float_value(editor, pool.node->outputs[0]))
    return std::nullopt;
  const auto conv = match_producer<Conv>(editor, pool.input(0));
  if (!conv || editor.only_reader(pool.input(0)) != index || !has_fusible_weights(editor, *conv.node))
    return std::nullopt;
  const auto op = mean_nodes(conv.node->op);
  Node node{pool.node->name, op, conv.node->inputs, pool.node->outputs};
  if (!gains_by_mean(*op, operator_inputs(editor.graph(), node), context.caps, context.precision))
    return std::nullopt;
  return FusedMatch{index, std::move(node), {conv.index}};
}

void lower_fused_mean(Lowering& lowering) {
  const auto& conv = lowering.op<FusedNodes>().op<Conv>(kMeanConv);
  const std::vector<OperatorInput> inputs = operator_inputs(lowering);
  const std::optional<InvocationTile> tile =
      has_mean_kernel(conv, inputs) ? mean_tile(inputs, lowering.caps()) : std::nullopt;
  if (!tile) return lowering.run_on_host("no workgroup holds all pixels");
  ConvWeights weights{inputs[0].type.shape[1], inputs[1].type.shape[0], 1, 1, tile->output.slices};
  choose_weight_type(lowering, weights);
  ConvExtras extras{.residual = lowering.has_input(kMeanResidual)
                                    ? lowering.read(kMeanResidual, Layout::channels4)
                                    : kNoTensor,
                    .scaling = conv.scaling,
                    .mean = true};
  if (lowering.has_input(kMeanScale)) extras.scale = lowering.read(kMeanScale, Layout::channels4);
  const TensorId x = lowering.read(0, Layout::channels4);
  dispatch_pointwise(lowering, x, lowering.write(0, Layout::channels4), weights, *tile, conv.activation,
                     conv_values(lowering, weights), extras);
}

}  // namespace vellum
