#include "kernels/conv/separable.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "caps/cooperative_matrix.hpp"
#include "graph/operators/conv/pool_conv.hpp"
#include "graph/operators/conv/separable_conv.hpp"
#include "kernels/conv/depthwise.hpp"
#include "kernels/conv/dispatch.hpp"
#include "kernels/conv/pointwise.hpp"
#include "kernels/conv/problem.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/reduction/pool.hpp"
#include "shaders/conv/conv_separable.h"

namespace vellum {
namespace {

// Devices promise four buffers for a dispatch; this kernel binds x, two weights, y and a residual.
bool binds_few_buffers(const SeparableProblem& problem, const DeviceCaps& caps) {
  return 4u + problem.has_residual - problem.pools <= caps.max_storage_buffers_per_stage;
}

bool has_workgroups(const SeparableProblem& problem, const DeviceCaps& caps, const SeparableTile& tile) {
  const SeparableDemand demand = problem.demand();
  const int64_t tiles = divide_up(demand.width, tile.width) * divide_up(demand.height, tile.height);
  const std::array<int64_t, 3> counts{tiles, divide_up(demand.outputs, tile.slices), demand.images};
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > caps.max_workgroup_count[i]) return false;
  return true;
}

std::string name_of(const SeparableTile& tile) {
  std::string text = std::to_string(tile.width) + "x" + std::to_string(tile.height) + "x" +
                     std::to_string(tile.slices) + " by " + std::to_string(tile.tile.pixels) + "x" +
                     std::to_string(tile.tile.slices);
  if (tile.split_k > 1) text += " split-K " + std::to_string(tile.split_k);
  return text;
}

SeparableProblem separable_problem(const Lowering& lowering) {
  const auto& op = lowering.op<SeparableConv>();
  const std::vector<OperatorInput> inputs = operator_inputs(lowering);
  return {.images = inputs[0].type.shape[0],
          .inputs = inputs[0].type.shape[1],
          .outputs = inputs[3].type.shape[0],
          .window = to_2d(op.depthwise.place(inputs)),
          .precision = lowering.options().precision,
          .has_residual = lowering.has_input(5)};
}

SeparableProblem pool_problem(const Lowering& lowering) {
  const auto& op = lowering.op<PoolConv>();
  const std::vector<OperatorInput> inputs = operator_inputs(lowering);
  return {.images = inputs[0].type.shape[0],
          .inputs = inputs[0].type.shape[1],
          .outputs = inputs[1].type.shape[0],
          .window = to_2d(op.pool.place(std::span(inputs).first(1))),
          .precision = lowering.options().precision,
          .has_residual = lowering.has_input(3),
          .pools = true};
}

// The second layer of the node; its weights are inputs `weights` and `weights` + 1, the residual is the next.
struct SecondLayer {
  const Conv& conv;
  size_t weights;
};

SecondLayer second_layer(const Lowering& lowering, const SeparableProblem& problem) {
  if (problem.pools) return {lowering.op<PoolConv>().pointwise, 1};
  return {lowering.op<SeparableConv>().pointwise, 3};
}

// That of the first layer.
Activation middle_activation(const Lowering& lowering, const SeparableProblem& problem) {
  return problem.pools ? Activation{} : lowering.op<SeparableConv>().depthwise.activation;
}

TensorId residual_of(Lowering& lowering, const SecondLayer& layer) {
  const size_t slot = layer.weights + 2;
  return lowering.has_input(slot) ? lowering.read(slot, Layout::channels4) : kNoTensor;
}

void emit_one_kernel(Lowering& lowering, const SeparableProblem& problem, const SeparableTile& tile) {
  const SecondLayer second = second_layer(lowering, problem);
  const Activation middle = middle_activation(lowering, problem);
  const SeparableDemand demand = problem.demand();
  ConvWeights weights{problem.inputs, problem.outputs, 1, 1, tile.tile.slices};
  if (should_multiply_halves(lowering)) weights.run = kRunOfSlices;
  const TensorId x = lowering.read(0, Layout::channels4);
  const TensorId filters = problem.pools ? kNoTensor : depthwise_filters(lowering);
  const TensorId grid = lowering.weight(lowering.node().name + "/pointwise",
                                        weight_grid(lowering, weights.width(), weights.height()),
                                        conv_values(lowering, weights, second.weights));
  const TensorId y = lowering.write(0, Layout::channels4), residual = residual_of(lowering, second);
  const int64_t pixel_blocks = tile.pixels() / tile.tile.pixels;
  const int64_t slice_groups = divide_up(demand.outputs, tile.slices);
  const auto tiles =
      static_cast<uint32_t>(divide_up(demand.width, tile.width) * divide_up(demand.height, tile.height));
  const Grid workgroups{
      {static_cast<uint32_t>(tile.invocations() / tile.split_k), static_cast<uint32_t>(tile.split_k), 1},
      {tiles, static_cast<uint32_t>(slice_groups), static_cast<uint32_t>(demand.images)}};
  Dispatch dispatch = make_dispatch(
      "conv_separable", workgroups, {reads("x", x), reads("w", grid), writes("y", y)},
      ConvSeparableParameters{.x_shape = texel_shape(lowering.tensor(x).desc.shape),
                              .y_shape = texel_shape(lowering.tensor(y).desc.shape),
                              .activation_params = activation_params_or_bounds(second.conv.activation),
                              .middle_params = activation_params_or_bounds(middle),
                              .residual_shape = residual_shape(lowering, residual),
                              .padding = window_pair(problem.window.padding)});
  dispatch.macs = lowering.macs();
  // Filters four pixels at a time, then multiplies what the workgroup filtered.
  const int64_t fours = demand.inputs * divide_up(tile.width, 4) * tile.height;
  dispatch.iterations = kShortLoops + loop_iterations(divide_up(fours, tile.invocations())) +
                        loop_iterations(demand.inputs, weights.run.of_halves() ? 2 : 0);
  if (problem.pools) {
    define(dispatch, "POOLED");
  } else {
    dispatch.bindings.push_back(reads("filters", filters));
    // Each group of output slices filters all input slices again.
    const std::vector<OperatorInput> inputs = operator_inputs(lowering);
    const uint64_t filtered = lowering.op<SeparableConv>().depthwise.macs(std::span(inputs).first(3));
    dispatch.macs += static_cast<uint64_t>(slice_groups - 1) * filtered;
  }
  define_tile(dispatch, {tile.tile});
  for (const auto& [macro, number] : {std::pair{"WIDTH", tile.width},
                                      {"HEIGHT", tile.height},
                                      {"PIXEL_BLOCKS", pixel_blocks},
                                      {"SPLIT_K", tile.split_k},
                                      {"KERNEL", problem.window.kernel[0]},
                                      {"STRIDE_X", problem.window.stride[0]},
                                      {"STRIDE_Y", problem.window.stride[1]},
                                      {"HELD", divide_up(tile.shared_bytes(demand), 16)},
                                      {"AHEAD", tile.ahead}})
    define(dispatch, macro, std::to_string(number));
  if (problem.precision == Precision::fp16) define(dispatch, "MIDDLE_HALVES");
  define_halves(dispatch, weights.run);
  define_activation_or_bounds(dispatch, second.conv.activation);
  define_activation_or_bounds(dispatch, middle, "MIDDLE");
  add_extras(dispatch, {.residual = residual}, 1);
  lowering.dispatch(std::move(dispatch));
}

// The first layer as a kernel of its own; returns what it computes.
TensorId emit_first(Lowering& lowering, const SeparableProblem& problem) {
  const TensorId x = lowering.read(0, Layout::channels4);
  const std::vector<OperatorInput> inputs = operator_inputs(lowering);
  if (problem.pools) {
    const auto& op = lowering.op<PoolConv>();
    const TensorId pooled = lowering.workspace_like(x, op.middle(inputs).shape, "/pool");
    dispatch_pool(lowering, op.pool, op.pool.place(std::span(inputs).first(1)), x, pooled);
    return pooled;
  }
  const auto& op = lowering.op<SeparableConv>();
  const TensorId filtered = lowering.workspace_like(x, op.middle(inputs).shape, "/depthwise");
  const ConvProblem depthwise = depthwise_problem(problem.images, problem.inputs, problem.window,
                                                  op.depthwise.activation, problem.precision);
  lowering.emit_best(depthwise_candidates(depthwise, lowering.caps(), filtered));
  return filtered;
}

// The two layers as kernels of their own, each with the best of its candidates.
void emit_apart(Lowering& lowering, const SeparableProblem& problem) {
  const Window2d& window = problem.window;
  const TensorId middle = emit_first(lowering, problem);
  const TensorId y = lowering.write(0, Layout::channels4);
  const SecondLayer second = second_layer(lowering, problem);
  emit_best_pointwise(lowering,
                      {.pixels = problem.images * window.output[0] * window.output[1],
                       .inputs = problem.inputs,
                       .outputs = problem.outputs,
                       .precision = problem.precision},
                      middle, y, second.conv.activation, second.weights,
                      {.residual = residual_of(lowering, second)});
}

// For devices whose policy has none: to be measured, and checked.
constexpr SeparableTile kAnyTile = {8, 4, {4, 1}, 4, 1};

}  // namespace

SeparableDemand SeparableProblem::demand() const {
  return {.width = window.output[0],
          .height = window.output[1],
          .images = images,
          .inputs = slices(inputs),
          .outputs = slices(outputs),
          .kernel = window.kernel[0],
          .stride_x = window.stride[0],
          .stride_y = window.stride[1],
          .texel_bytes = precision == Precision::fp16 ? 8 : 16};
}

bool is_separable(const SeparableProblem& problem) {
  const SeparableDemand demand = problem.demand();
  const int64_t texels = demand.images * demand.height * demand.width * demand.inputs * demand.outputs;
  return texels > 0 && has_unrolled_taps(problem.window);
}

std::vector<SeparableTile> tiles_of_one_kernel(const SeparableProblem& problem, const DeviceCaps& caps) {
  if (!is_separable(problem) || !binds_few_buffers(problem, caps)) return {};
  // Matrices of halves multiply faster than this kernel.
  if (problem.precision == Precision::fp16 && !half_products(caps).empty()) return {};
  std::vector<SeparableTile> tiles = separable_tiles(caps, problem.demand());
  std::erase_if(tiles, [&](const SeparableTile& tile) { return !has_workgroups(problem, caps, tile); });
  return tiles;
}

namespace {

void emit_best_of(Lowering& lowering, const SeparableProblem& problem) {
  const DeviceCaps& caps = lowering.caps();
  std::vector<KernelCandidate> candidates;
  const auto add = [&](const SeparableTile& tile, double cost) {
    candidates.push_back({{"separable", name_of(tile)}, cost, [problem, tile](Lowering& node) {
                            emit_one_kernel(node, problem, tile);
                          }});
  };
  const std::vector<SeparableTile> tiles = tiles_of_one_kernel(problem, caps);
  for (size_t i = 0; i < tiles.size(); ++i) add(tiles[i], 0.5 + 0.1 * static_cast<double>(i));
  const int64_t most = std::min<int64_t>(caps.max_shared_memory_bytes, 16 << 10);
  if (tiles.empty() && is_separable(problem) && binds_few_buffers(problem, caps) &&
      has_workgroups(problem, caps, kAnyTile) && kAnyTile.shared_bytes(problem.demand()) <= most)
    add(kAnyTile, kOnlyIfMeasured);
  candidates.push_back({{"layers apart"}, 1, [problem](Lowering& node) { emit_apart(node, problem); }});
  lowering.emit_best(candidates);
}

}  // namespace

void lower_separable_conv(Lowering& lowering) { emit_best_of(lowering, separable_problem(lowering)); }
void lower_pool_conv(Lowering& lowering) { emit_best_of(lowering, pool_problem(lowering)); }

}  // namespace vellum
