#include "kernels/fused/separable.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "caps/cooperative_matrix.hpp"
#include "caps/driver_quirks.hpp"
#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"
#include "cost/dispatch_time.hpp"
#include "cost/registers.hpp"
#include "cost/subgroups.hpp"
#include "cost/timed_tiles.hpp"
#include "graph/operators/conv/conv.hpp"
#include "kernels/conv/depthwise.hpp"
#include "kernels/conv/dispatch.hpp"
#include "kernels/conv/pointwise.hpp"
#include "kernels/conv/problem.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/fused/matching.hpp"
#include "shaders/conv/conv_separable.h"

namespace vellum {

int64_t SeparableTile::shared_bytes(const SeparableDemand& demand) const {
  // Rounded up to 4 KiB, so that layers with nearly as many channels share a pipeline.
  constexpr int64_t kSumBytes = 16, kStep = 4 << 10;
  const int64_t sums = split_k > 1 ? kSumBytes * invocations() * tile.pixels * tile.slices : 0;
  return (std::max(demand.texel_bytes * demand.inputs * pixels(), sums) + kStep - 1) / kStep * kStep;
}

namespace {

// --- Tiles by predicted time ---

// Bytes of the tensors of the two layers: x, the result of the depthwise convolution, y, and all weights.
struct SeparableBytes {
  double x, middle, y, filters, weights;
};

SeparableBytes bytes_of(const SeparableDemand& demand) {
  const auto texel = static_cast<double>(demand.texel_bytes);
  const double pixels = texel * static_cast<double>(demand.width * demand.height * demand.images);
  const auto inputs = static_cast<double>(demand.inputs), outputs = static_cast<double>(demand.outputs);
  return {.x = pixels * inputs * static_cast<double>(demand.stride_x * demand.stride_y),
          .middle = pixels * inputs,
          .y = pixels * outputs,
          .filters = texel * inputs * static_cast<double>(demand.kernel * demand.kernel + 1),
          .weights = texel * (4 * inputs + 1) * outputs};
}

// Returns the predicted times of the unfused layers.
UnfusedTimes layers_apart(const DeviceCaps& caps, const DeviceRates& rates, const SeparableDemand& demand) {
  const SeparableBytes bytes = bytes_of(demand);
  const auto texels = static_cast<double>(demand.width * demand.height * demand.images * demand.inputs);
  const auto taps = static_cast<double>(demand.kernel * demand.kernel);
  return {depthwise_us(caps, rates, texels, taps, bytes.x + bytes.middle + bytes.filters),
          product_us(caps, rates, demand.width * demand.height * demand.images, demand.width, demand.inputs,
                     demand.outputs, demand.texel_bytes)};
}

// Returns the predicted microseconds of both layers in one dispatch.
double separable_us(const DeviceCaps& caps, const DeviceRates& rates, const SeparableTile& tile,
                    const SeparableDemand& demand) {
  const int64_t invocations = tile.invocations();
  const auto workgroups =
      static_cast<double>(blocks(demand.width, tile.width) * blocks(demand.height, tile.height) *
                          demand.images * blocks(demand.outputs, tile.slices));
  // Groups of four pixels that an invocation filters, and input slices that it multiplies.
  const int64_t rounds = blocks(demand.inputs * tile.pixels() / 4, invocations);
  const int64_t slices = blocks(demand.inputs, tile.split_k);
  const TileCode code = tile_code(device_traits(caps), tile.tile, false);
  const double filtered = static_cast<double>(16 * demand.kernel * demand.kernel * rounds);
  const double multiplied = static_cast<double>(slices) * code.macs_per_step;
  const SeparableBytes bytes = bytes_of(demand);
  const uint32_t subgroup = subgroup_of_large_kernels(caps);
  const auto subgroups = static_cast<double>(blocks(invocations, subgroup));
  // Workgroups for which a unit has enough shared memory; one workgroup may take all of it.
  const double held = std::max(1.0, static_cast<double>(caps.max_shared_memory_bytes) /
                                        static_cast<double>(tile.shared_bytes(demand)));
  const double steps = kStepsAround + static_cast<double>(rounds) + kStepsToReduce +
                       (tile.split_k > 1 ? kStepsToReduce : 0) +
                       static_cast<double>(blocks(slices, tile.ahead));
  const double lanes = device_traits(caps).counts_idle_lanes ? subgroups * static_cast<double>(subgroup)
                                                             : static_cast<double>(invocations);
  return dispatch_time(rates, {.macs = workgroups * lanes *
                                       (filtered * code.efficiency / kCheckedEfficiency + multiplied),
                               .bytes = bytes.x + bytes.y + bytes.filters + bytes.weights,
                               .subgroups = workgroups * subgroups,
                               .subgroup_size = subgroup,
                               .steps = steps,
                               .resident = std::min(code.resident, std::floor(held) * subgroups)})
      .total_us(code.efficiency);
}

bool fits(const DeviceCaps& caps, const SeparableTile& tile, const SeparableDemand& demand) {
  constexpr int64_t kMostShared = 32 << 10, kMostInvocations = 256;
  const int64_t most_invocations = std::min(device_traits(caps).most_full_register_group, kMostInvocations);
  const int64_t columns = tile.invocations() / tile.split_k;
  return tile.invocations() >= least_workgroup_with_barriers(caps) &&
         tile.invocations() <= std::min<int64_t>(most_invocations, caps.max_workgroup_invocations) &&
         columns <= caps.max_workgroup_size[0] && tile.split_k <= caps.max_workgroup_size[1] &&
         tile.shared_bytes(demand) <= std::min<int64_t>(kMostShared, caps.max_shared_memory_bytes);
}

// Returns tiles of 8 to 64 pixels that the device can run and that are not at least twice as large as the
// output. Sizes between these gain little, and each size needs a pipeline.
std::vector<SeparableTile> possible_tiles(const DeviceCaps& caps, const SeparableDemand& demand) {
  std::vector<SeparableTile> tiles;
  for (const auto& [width, height] : {std::pair{4, 2}, {8, 2}, {8, 4}, {8, 8}})
    for (const int64_t pixels : {4, 8})
      for (const int64_t slices : {1, 2})
        for (int64_t groups = 1; slices * groups < 2 * demand.outputs; groups *= 2)
          for (int64_t split = 1; split <= std::min<int64_t>(demand.inputs, 16); split *= 4) {
            const OutputTile sums{pixels, slices};
            const SeparableTile tile{width,           height, sums,
                                     slices * groups, split,  weights_ahead(caps, sums, demand.kernel)};
            const bool wasteful =
                (width > 4 && width >= 2 * demand.width) || (height > 2 && height >= 2 * demand.height);
            if (wasteful || pixels * slices > device_traits(caps).most_sums) continue;
            if (fits(caps, tile, demand)) tiles.push_back(tile);
          }
  return tiles;
}

}  // namespace

std::vector<TimedTile<SeparableTile>> separable_tiles(const DeviceCaps& caps, const SeparableDemand& demand) {
  if (!device_traits(caps).fuses_separable) return {};
  const DeviceRates rates = device_rates(caps);
  return quickest_tiles(
      possible_tiles(caps, demand),
      [&](const SeparableTile& tile) { return separable_us(caps, rates, tile, demand); },
      layers_apart(caps, rates, demand));
}

namespace {

// Returns whether a dispatch can bind the buffers: x, two weights, y and a residual. Devices guarantee only
// four.
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

// The layers in the body, and the node's first input for the second layer.
constexpr size_t kFirstLayer = 0, kSecondLayer = 1, kPointwiseWeights = 3;

TensorId residual_of(Lowering& lowering, size_t weights) {
  const size_t slot = weights + 2;
  return lowering.has_input(slot) ? lowering.read(slot, Layout::channels4) : kNoTensor;
}

// Returns the multiply-accumulates of the depthwise convolution. Each group of output slices repeats it for
// all input slices.
uint64_t macs_of_filters(const Lowering& lowering, const SeparableProblem& problem) {
  if (problem.pools) return 0;
  return lowering.op<FusedNodes>().macs_of(kFirstLayer, operator_inputs(lowering));
}

void emit_one_kernel(Lowering& lowering, const SeparableProblem& problem, size_t pointwise_weights,
                     const SeparableTile& tile) {
  const SeparableDemand demand = problem.demand();
  ConvWeights weights{problem.inputs, problem.outputs, 1, 1, tile.tile.slices};
  choose_weight_type(lowering, weights, pointwise_weights);
  const TensorId x = lowering.read(0, Layout::channels4);
  const TensorId filters = problem.pools ? kNoTensor : depthwise_filters(lowering);
  const TensorId grid = lowering.weight(lowering.node().name + "/pointwise", weight_grid(lowering, weights),
                                        conv_values(lowering, weights, pointwise_weights));
  const TensorId y = lowering.write(0, Layout::channels4),
                 residual = residual_of(lowering, pointwise_weights);
  const int64_t pixel_blocks = tile.pixels() / tile.tile.pixels;
  const int64_t slice_groups = divide_up(demand.outputs, tile.slices);
  const auto tiles =
      static_cast<uint32_t>(divide_up(demand.width, tile.width) * divide_up(demand.height, tile.height));
  const Grid workgroups{
      {static_cast<uint32_t>(tile.invocations() / tile.split_k), static_cast<uint32_t>(tile.split_k), 1},
      {tiles, static_cast<uint32_t>(slice_groups), static_cast<uint32_t>(demand.images)}};
  Dispatch dispatch =
      make_dispatch("conv_separable", workgroups, {reads("x", x), reads("w", grid), writes("y", y)},
                    ConvSeparableParameters{.x_shape = texel_shape(lowering.tensor(x).desc.shape),
                                            .y_shape = texel_shape(lowering.tensor(y).desc.shape),
                                            .activation_params = activation_params_or_bounds(problem.last),
                                            .middle_params = activation_params_or_bounds(problem.middle),
                                            .residual_shape = residual_shape(lowering, residual),
                                            .padding = window_pair(problem.window.padding)});
  dispatch.macs =
      lowering.macs() + static_cast<uint64_t>(slice_groups - 1) * macs_of_filters(lowering, problem);
  // An invocation first filters four pixels at a time, then multiplies the pixels that the workgroup
  // filtered.
  const int64_t fours = demand.inputs * divide_up(tile.width, 4) * tile.height;
  dispatch.iterations = kShortLoops + loop_iterations(divide_up(fours, tile.invocations())) +
                        loop_iterations(demand.inputs, weights.adds_in_runs() ? 2 : 0);
  if (problem.pools)
    define(dispatch, "POOLED");
  else
    dispatch.bindings.push_back(reads("filters", filters)), define_filters(lowering, dispatch, filters);
  define_tile(dispatch, {tile.tile});
  for (const auto& [macro, number] : {std::pair{"WIDTH", tile.width},
                                      {"HEIGHT", tile.height},
                                      {"PIXEL_BLOCKS", pixel_blocks},
                                      {"SPLIT_K", tile.split_k},
                                      {"KERNEL", problem.window.kernel[0]},
                                      {"STRIDE_X", problem.window.stride[0]},
                                      {"STRIDE_Y", problem.window.stride[1]},
                                      {"MIDDLE_TEXELS", divide_up(tile.shared_bytes(demand), 16)},
                                      {"AHEAD", tile.ahead}})
    define(dispatch, macro, std::to_string(number));
  if (problem.precision == Precision::fp16) define(dispatch, "MIDDLE_HALVES");
  define_halves(dispatch, weights.run);
  add_byte_weights(lowering, dispatch, weights);
  define_activation_or_bounds(dispatch, problem.last);
  define_activation_or_bounds(dispatch, problem.middle, "MIDDLE");
  add_extras(dispatch, {.residual = residual}, 1);
  dispatch.fused = problem.pools ? FusedKernelId::pool : FusedKernelId::separable;
  lowering.dispatch(std::move(dispatch));
}

TensorId emit_depthwise_alone(Lowering& lowering, const SeparableProblem& problem) {
  const TensorId x = lowering.read(0, Layout::channels4);
  const Shape middle = lowering.op<FusedNodes>().output_of(kFirstLayer, operator_inputs(lowering)).shape;
  const TensorId filtered = lowering.workspace_like(x, middle, "/depthwise");
  const ConvProblem depthwise =
      depthwise_problem(problem.images, problem.inputs, problem.window, problem.middle, problem.precision);
  lowering.emit_best(depthwise_candidates(depthwise, lowering.caps(), filtered));
  return filtered;
}

// Emits the two layers unfused, each with its best candidate.
void emit_layers_unfused(Lowering& lowering, const SeparableProblem& problem, size_t weights,
                         const std::function<TensorId(Lowering&)>& emit_first) {
  const Window2d& window = problem.window;
  const TensorId middle = emit_first(lowering);
  const TensorId y = lowering.write(0, Layout::channels4);
  emit_best_pointwise(lowering,
                      {.pixels = problem.images * window.output[0] * window.output[1],
                       .inputs = problem.inputs,
                       .outputs = problem.outputs,
                       .precision = problem.precision},
                      middle, y, problem.last, weights, {.residual = residual_of(lowering, weights)});
}

// The tile of a candidate on devices for which the model proposes none. Only measurements choose it, and
// self-checks run it.
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

std::vector<TimedTile<SeparableTile>> tiles_of_one_kernel(const SeparableProblem& problem,
                                                          const DeviceCaps& caps) {
  if (!is_separable(problem) || !binds_few_buffers(problem, caps)) return {};
  // Cooperative matrices multiply faster than this kernel.
  if (problem.precision == Precision::fp16 && !half_products(caps).empty()) return {};
  std::vector<TimedTile<SeparableTile>> tiles = separable_tiles(caps, problem.demand());
  std::erase_if(tiles, [&](const auto& timed) { return !has_workgroups(problem, caps, timed.tile); });
  return tiles;
}

void emit_separable(Lowering& lowering, const SeparableProblem& problem, size_t weights,
                    const std::function<TensorId(Lowering&)>& emit_first) {
  const DeviceCaps& caps = lowering.caps();
  std::vector<KernelCandidate> candidates;
  const auto add = [&](const SeparableTile& tile, double cost) {
    candidates.push_back({{"separable", name_of(tile)}, cost, [problem, weights, tile](Lowering& node) {
                            emit_one_kernel(node, problem, weights, tile);
                          }});
  };
  const std::vector<TimedTile<SeparableTile>> tiles = tiles_of_one_kernel(problem, caps);
  for (size_t i = 0; i < tiles.size(); ++i) add(tiles[i].tile, 0.5 + 0.1 * static_cast<double>(i));
  const int64_t most = std::min<int64_t>(caps.max_shared_memory_bytes, 16 << 10);
  if (tiles.empty() && is_separable(problem) && binds_few_buffers(problem, caps) &&
      has_workgroups(problem, caps, kAnyTile) && kAnyTile.shared_bytes(problem.demand()) <= most &&
      kAnyTile.invocations() >= least_workgroup_with_barriers(caps))
    add(kAnyTile, kOnlyIfMeasured);
  candidates.push_back({{"layers apart"}, 1, [problem, weights, emit_first](Lowering& node) {
                          emit_layers_unfused(node, problem, weights, emit_first);
                        }});
  lowering.emit_best(candidates);
}

// --- The node and its match ---

std::shared_ptr<const FusedNodes> separable_nodes(std::shared_ptr<const Operator> depthwise,
                                                  std::shared_ptr<const Operator> pointwise) {
  auto op = std::make_shared<FusedNodes>(FusedKernelId::separable);
  const std::vector<ValueId> in = op->add_inputs(6);
  const ValueId middle = op->add_node("depthwise", std::move(depthwise), {in[0], in[1], in[2]});
  op->add_output(op->add_node("pointwise", std::move(pointwise), {middle, in[3], in[4], in[5]}));
  return op;
}

namespace {

SeparableProblem separable_problem(const FusedNodes& op, const std::vector<OperatorInput>& inputs,
                                   Precision precision) {
  const auto& depthwise = op.op<Conv>(kFirstLayer);
  return {.images = inputs[0].type.shape[0],
          .inputs = inputs[0].type.shape[1],
          .outputs = inputs[kPointwiseWeights].type.shape[0],
          .window = to_2d(depthwise.place(inputs)),
          .precision = precision,
          .has_residual = inputs.size() > 5 && inputs[5].present,
          .middle = depthwise.activation,
          .last = op.op<Conv>(kSecondLayer).activation};
}

}  // namespace

std::optional<FusedMatch> match_separable(const GraphEditor& editor, size_t index,
                                          const FusionContext& context) {
  const auto product = match_node<Conv>(editor, index);
  if (!product || !is_float_value(editor, product.node->outputs[0])) return std::nullopt;
  const auto depthwise = match_producer<Conv>(editor, product.input(0));
  if (!depthwise || editor.only_reader(product.input(0)) != index) return std::nullopt;
  if (!is_depthwise(editor, depthwise) || !is_product(editor, product)) return std::nullopt;
  const auto op = separable_nodes(depthwise.node->op, product.node->op);
  Node node{product.node->name, op, inputs_or_none(*depthwise.node, 0, 3), product.node->outputs};
  std::ranges::copy(inputs_or_none(*product.node, 1, 3), std::back_inserter(node.inputs));
  while (node.inputs.back() == kNoValue) node.inputs.pop_back();
  const SeparableProblem problem =
      separable_problem(*op, operator_inputs(editor.graph(), node), context.precision);
  if (!fits_32_bits(problem.window)) return std::nullopt;
  const std::vector<TimedTile<SeparableTile>> tiles = tiles_of_one_kernel(problem, context.caps);
  if (tiles.empty()) return std::nullopt;
  const UnfusedTimes apart = layers_apart(context.caps, device_rates(context.caps), problem.demand());
  return FusedMatch{index,
                    std::move(node),
                    {depthwise.index},
                    tiles.front().us,
                    {{depthwise.index, apart.other_us}, {index, apart.product_us}}};
}

void lower_fused_separable(Lowering& lowering) {
  const SeparableProblem problem =
      separable_problem(lowering.op<FusedNodes>(), operator_inputs(lowering), lowering.options().precision);
  emit_separable(lowering, problem, kPointwiseWeights,
                 [problem](Lowering& node) { return emit_depthwise_alone(node, problem); });
}

}  // namespace vellum
