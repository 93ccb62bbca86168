#include "kernels/conv/expand.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "caps/cooperative_matrix.hpp"
#include "kernels/conv/depthwise.hpp"
#include "kernels/conv/dispatch.hpp"
#include "kernels/conv/pointwise.hpp"
#include "kernels/conv/problem.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/reduction/squeeze_excite.hpp"
#include "shaders/conv/conv_expand.h"

namespace vellum {
namespace {

// The first of the node's inputs for the 1x1 convolution, the depthwise convolution and the gates.
constexpr size_t kPointwise = 1, kDepthwise = 3, kGates = 5;

struct ExpandProblem {
  int64_t images = 1, inputs = 1, outputs = 1;  // channels
  Window2d window;
  Precision precision = Precision::fp32;
  bool takes_means = false;
  SqueezeSizes gates = {};  // of one mean for each channel

  ExpandDemand demand() const {
    return {.width = window.output[0],
            .height = window.output[1],
            .images = images,
            .x_width = window.input[0],
            .x_height = window.input[1],
            .inputs = slices(inputs),
            .slices = slices(outputs),
            .kernel = window.kernel[0],
            .stride_x = window.stride[0],
            .stride_y = window.stride[1],
            .texel_bytes = precision == Precision::fp16 ? 8 : 16,
            .gates = gates.hidden * (gates.inputs + gates.outputs)};
  }
  SqueezeSizes gates_of(int64_t parts) const {
    SqueezeSizes sizes = gates;
    sizes.pixels = parts;
    return sizes;
  }
};

ExpandProblem problem_of(const ExpandConv& op, const std::vector<OperatorInput>& inputs,
                         Precision precision) {
  const OperatorInput middle{true, op.middle(inputs), nullptr};
  const OperatorInput window[] = {middle, inputs[kDepthwise]};
  SqueezeSizes gates{};
  if (op.squeeze)
    gates = {inputs[0].type.shape[0], middle.type.shape[1], inputs[kGates].type.shape[0],
             inputs[kGates + 2].type.shape[0], 1};
  return {.images = inputs[0].type.shape[0],
          .inputs = inputs[0].type.shape[1],
          .outputs = middle.type.shape[1],
          .window = to_2d(op.depthwise.place(window)),
          .precision = precision,
          .takes_means = op.squeeze.has_value(),
          .gates = gates};
}

// Whether each window reads a pixel that is no padding: those of a tile cover at least one.
bool windows_reach_pixels(const Window2d& window) {
  for (const size_t axis : {0u, 1u})
    if (window.padding[axis] >= window.kernel[axis] ||
        (window.output[axis] - 1) * window.stride[axis] - window.padding[axis] >= window.input[axis])
      return false;
  return true;
}

bool has_kernel(const ExpandProblem& problem, const DeviceCaps& caps) {
  const ExpandDemand demand = problem.demand();
  const int64_t texels = demand.images * demand.height * demand.width * demand.slices * demand.inputs;
  // x, two weights, y and the means; devices promise four buffers for a dispatch.
  return texels > 0 && fits_32_bits(problem.window) && has_unrolled_taps(problem.window) &&
         windows_reach_pixels(problem.window) &&
         (problem.takes_means ? 5u : 4u) <= caps.max_storage_buffers_per_stage;
}

int64_t tiles_of(const ExpandDemand& demand, const ExpandTile& tile) {
  return divide_up(demand.width, tile.width) * divide_up(demand.height, tile.height);
}

Grid grid_of(const ExpandDemand& demand, const ExpandTile& tile) {
  return {{static_cast<uint32_t>(tile.invocations), 1, 1},
          {static_cast<uint32_t>(tiles_of(demand, tile)),
           static_cast<uint32_t>(divide_up(demand.slices, tile.tile.slices)),
           static_cast<uint32_t>(demand.images)}};
}

bool fits_the_grid(const ExpandDemand& demand, const DeviceCaps& caps, const ExpandTile& tile) {
  const Grid grid = grid_of(demand, tile);
  for (size_t i = 0; i < 3; ++i)
    if (grid.workgroup_count[i] > caps.max_workgroup_count[i]) return false;
  return true;
}

std::vector<ExpandTile> tiles_of_one_kernel(const ExpandProblem& problem, const DeviceCaps& caps) {
  if (!has_kernel(problem, caps)) return {};
  // Matrices of halves multiply faster than this kernel.
  if (problem.precision == Precision::fp16 && !half_products(caps).empty()) return {};
  std::vector<ExpandTile> tiles = expand_tiles(caps, problem.demand());
  std::erase_if(tiles, [&](const ExpandTile& tile) { return !fits_the_grid(problem.demand(), caps, tile); });
  return tiles;
}

// The tensors that the kernel stores for squeeze-and-excitation: gates, or means for a dispatch after it.
struct MeansAndGates {
  LastGates last;
  TensorId apart = kNoTensor, gates = kNoTensor;
};

MeansAndGates means_and_gates(Lowering& lowering, const ExpandProblem& problem, const ExpandTile& tile,
                              int64_t tiles) {
  if (!problem.takes_means) return {};
  constexpr uint32_t kBuffers = 4;  // x, two weights, y
  const TensorId gates = lowering.write(1, Layout::channels4);
  const SqueezeSizes sizes = problem.gates_of(tiles);
  if (gates_are_last(lowering.caps(), sizes, tile.invocations,
                     {kBuffers, tile.shared_bytes(problem.demand())}))
    return {last_gates(lowering, *lowering.op<ExpandConv>().squeeze, sizes, kGates, gates), kNoTensor, gates};
  const TensorId x = lowering.read(0, Layout::channels4);
  return {{}, lowering.workspace_like(x, {problem.images, problem.outputs, 1, tiles}, "/means"), gates};
}

// Expands all pixels that the windows cover, then filters those of the tile.
uint64_t iterations_of(const TensorDesc& x, const ExpandDemand& demand, const ExpandTile& tile,
                       bool in_runs) {
  const int64_t expands = divide_up(tile.covered(demand), tile.tile.pixels * tile.invocations);
  const int64_t filters = divide_up(tile.width * tile.height, tile.invocations);
  return kShortLoops + loop_iterations(expands, slice_iterations(x, demand.inputs, in_runs)) +
         static_cast<uint64_t>(tile.tile.slices) * loop_iterations(filters);
}

void emit_one_kernel(Lowering& lowering, const ExpandProblem& problem, const ExpandTile& tile) {
  const auto& op = lowering.op<ExpandConv>();
  const ExpandDemand demand = problem.demand();
  ConvWeights weights{problem.inputs, problem.outputs, 1, 1, tile.tile.slices};
  if (should_multiply_halves(lowering)) weights.run = kRunOfSlices;
  const TensorId x = lowering.read(0, Layout::channels4);
  const TensorId grid = lowering.weight(lowering.node().name + "/pointwise",
                                        weight_grid(lowering, weights.width(), weights.height()),
                                        conv_values(lowering, weights, kPointwise));
  const TensorId filters = depthwise_filters(lowering, kDepthwise);
  const TensorId y = lowering.write(0, Layout::channels4);
  const int64_t tiles = tiles_of(demand, tile);
  const MeansAndGates means = means_and_gates(lowering, problem, tile, tiles);
  const LastGates& last = means.last;
  Dispatch dispatch = make_dispatch(
      "conv_expand", grid_of(demand, tile),
      {reads("x", x), reads("w", grid), reads("filters", filters), writes("y", y)},
      ConvExpandParameters{.x_shape = texel_shape(lowering.tensor(x).desc.shape),
                           .y_shape = texel_shape(lowering.tensor(y).desc.shape),
                           .activation_params = activation_params_or_bounds(op.depthwise.activation),
                           .middle_params = activation_params_or_bounds(op.pointwise.activation),
                           .hidden_params = last.hidden_params,
                           .gate_params = last.gate_params,
                           .padding = window_pair(problem.window.padding),
                           .tile = {tile.width, tile.height},
                           .hidden_channels = last.hidden_channels,
                           .counter = last.counter});
  // Neighbouring tiles compute what both need.
  const int64_t multiplied = tiles * tile.covered(demand);
  const int64_t filtered = demand.width * demand.height * problem.window.taps();
  dispatch.macs =
      static_cast<uint64_t>(demand.images * problem.outputs * (multiplied * problem.inputs + filtered));
  dispatch.iterations = iterations_of(lowering.tensor(x).desc, demand, tile, weights.run.of_halves());
  define_tile(dispatch, {tile.tile});
  for (const auto& [macro, number] : {std::pair{"CAPACITY", tile.capacity(demand)},
                                      {"FILTERED", std::min<int64_t>(4, tile.width)},
                                      {"KERNEL", demand.kernel},
                                      {"STRIDE_X", demand.stride_x},
                                      {"STRIDE_Y", demand.stride_y},
                                      {"AHEAD", tile.ahead}})
    define(dispatch, macro, std::to_string(number));
  if (problem.precision == Precision::fp16) define(dispatch, "MIDDLE_HALVES");
  define_halves(dispatch, weights.run);
  define_activation_or_bounds(dispatch, op.depthwise.activation);
  define_activation_or_bounds(dispatch, op.pointwise.activation, "MIDDLE");
  if (problem.takes_means) define(dispatch, "MEANS");
  if (last.op) add_gates(dispatch, last, tile.invocations);
  if (means.apart != kNoTensor) dispatch.bindings.push_back(writes("means", means.apart));
  lowering.dispatch(std::move(dispatch));
  if (means.apart != kNoTensor)
    squeeze_in_a_workgroup(lowering, *op.squeeze, problem.gates_of(tiles), means.apart, kGates, means.gates);
}

// The layers as kernels of their own, each with the best of its candidates.
void emit_apart(Lowering& lowering, const ExpandProblem& problem) {
  const auto& op = lowering.op<ExpandConv>();
  const DeviceCaps& caps = lowering.caps();
  const Window2d& window = problem.window;
  const TensorId x = lowering.read(0, Layout::channels4);
  const TensorId middle = lowering.workspace_like(x, op.middle(operator_inputs(lowering)).shape, "/expanded");
  emit_best_pointwise(lowering,
                      {.pixels = problem.images * window.input[0] * window.input[1],
                       .inputs = problem.inputs,
                       .outputs = problem.outputs,
                       .precision = problem.precision},
                      x, middle, op.pointwise.activation, kPointwise);

  const ConvProblem depthwise =
      depthwise_problem(problem.images, problem.outputs, window, op.depthwise.activation, problem.precision);
  const DepthwiseSource source{middle, kDepthwise};
  const TensorId y = lowering.write(0, Layout::channels4);
  if (!problem.takes_means) return lowering.emit_best(depthwise_candidates(depthwise, caps, y, source));
  emit_depthwise_gates(lowering, depthwise, means_tile(depthwise, caps).value(), *op.squeeze,
                       problem.gates_of(1), kGates, y, lowering.write(1, Layout::channels4), source);
}

// For devices whose policy has none: to be measured, and checked.
constexpr ExpandTile kAnyExpandTile = {8, 8, {4, 1}, 64, 1};

std::string name_of(const ExpandTile& tile) {
  return std::to_string(tile.width) + "x" + std::to_string(tile.height) + "x" +
         std::to_string(tile.tile.slices) + " by " + std::to_string(tile.tile.pixels) + " in " +
         std::to_string(tile.invocations);
}

}  // namespace

ExpandDemand expand_demand(const ExpandConv& op, const std::vector<OperatorInput>& inputs,
                           Precision precision) {
  return problem_of(op, inputs, precision).demand();
}

bool is_for_one_kernel(const ExpandConv& op, const std::vector<OperatorInput>& inputs, const DeviceCaps& caps,
                       Precision precision) {
  const ExpandProblem problem = problem_of(op, inputs, precision);
  const std::vector<ExpandTile> tiles = tiles_of_one_kernel(problem, caps);
  return std::ranges::any_of(tiles, [&](const ExpandTile& tile) {
    return !op.squeeze || is_for_a_workgroup(caps, problem.gates_of(tiles_of(problem.demand(), tile)));
  });
}

void lower_expand_conv(Lowering& lowering) {
  const auto& op = lowering.op<ExpandConv>();
  const DeviceCaps& caps = lowering.caps();
  const ExpandProblem problem = problem_of(op, operator_inputs(lowering), lowering.options().precision);
  if (!has_unrolled_taps(problem.window)) return lowering.run_on_host("its window has no kernel");
  std::vector<KernelCandidate> candidates;
  const auto add = [&](const ExpandTile& tile, double cost) {
    candidates.push_back({{"expand", name_of(tile)}, cost, [problem, tile](Lowering& node) {
                            emit_one_kernel(node, problem, tile);
                          }});
  };
  const std::vector<ExpandTile> tiles = tiles_of_one_kernel(problem, caps);
  for (size_t i = 0; i < tiles.size(); ++i) add(tiles[i], 0.5 + 0.1 * static_cast<double>(i));
  ExpandTile any = kAnyExpandTile;
  any.width = std::min(any.width, problem.window.output[0]);
  any.height = std::min(any.height, problem.window.output[1]);
  if (tiles.empty() && has_kernel(problem, caps) && fits_the_grid(problem.demand(), caps, any))
    add(any, kOnlyIfMeasured);
  candidates.push_back({{"layers apart"}, 1, [problem](Lowering& node) { emit_apart(node, problem); }});
  lowering.emit_best(candidates);
}

}  // namespace vellum
