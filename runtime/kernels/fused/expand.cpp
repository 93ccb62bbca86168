#include "kernels/fused/expand.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "caps/cooperative_matrix.hpp"
#include "cost/device_rates.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/reduction/squeeze_excite.hpp"
#include "kernels/conv/depthwise.hpp"
#include "kernels/conv/dispatch.hpp"
#include "kernels/conv/pointwise.hpp"
#include "kernels/conv/problem.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/fused/expand_tiles.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/fused/matching.hpp"
#include "kernels/fused/squeeze_excite.hpp"
#include "kernels/reduction/squeeze_excite.hpp"
#include "shaders/conv/conv_expand.h"

namespace vellum {
namespace {

constexpr size_t kPointwiseNode = 0, kDepthwiseNode = 1, kSqueezeNode = 2;
// The first inputs of the 1x1 convolution, the depthwise convolution and the gates.
constexpr size_t kPointwise = 1, kDepthwise = 3, kGates = 5;

bool has_squeeze(const FusedNodes& op) { return op.body.nodes.size() > kSqueezeNode; }

struct ExpandProblem {
  int64_t images = 1, inputs = 1, outputs = 1;  // channels
  Window2d window;
  Precision precision = Precision::fp32;
  bool takes_means = false;
  SqueezeSizes gates = {};            // sizes with one mean for each channel
  Activation middle = {}, last = {};  // of the two convolutions

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

ExpandProblem expand_problem(const FusedNodes& op, const std::vector<OperatorInput>& inputs,
                             Precision precision) {
  const TensorType middle = op.output_of(kPointwiseNode, inputs);
  SqueezeSizes gates{};
  if (has_squeeze(op))
    gates = {inputs[0].type.shape[0], middle.shape[1], inputs[kGates].type.shape[0],
             inputs[kGates + 2].type.shape[0], 1};
  return {.images = inputs[0].type.shape[0],
          .inputs = inputs[0].type.shape[1],
          .outputs = middle.shape[1],
          .window = to_2d(op.op<Conv>(kDepthwiseNode).place(op.inputs_of(kDepthwiseNode, inputs))),
          .precision = precision,
          .takes_means = has_squeeze(op),
          .gates = gates,
          .middle = op.op<Conv>(kPointwiseNode).activation,
          .last = op.op<Conv>(kDepthwiseNode).activation};
}

// Returns whether each window reads at least one pixel that is not padding, so that a tile covers a pixel.
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
  // The kernel binds x, two weights, y and the means. Devices guarantee only four buffers for a dispatch.
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

std::vector<TimedTile<ExpandTile>> tiles_of_one_kernel(const ExpandProblem& problem, const DeviceCaps& caps) {
  if (!has_kernel(problem, caps)) return {};
  // Cooperative matrices multiply faster than this kernel.
  if (problem.precision == Precision::fp16 && !half_products(caps).empty()) return {};
  std::vector<TimedTile<ExpandTile>> tiles = expand_tiles(caps, problem.demand());
  std::erase_if(tiles, [&](const auto& timed) { return !fits_the_grid(problem.demand(), caps, timed.tile); });
  return tiles;
}

const SqueezeExcite& squeeze_of(const Lowering& lowering) {
  return lowering.op<FusedNodes>().op<SqueezeExcite>(kSqueezeNode);
}

// The tensors that the kernel stores for squeeze-and-excitation: the gates, or the means (`apart`), from
// which another dispatch computes the gates.
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
    return {last_gates(lowering, squeeze_of(lowering), sizes, kGates, gates), kNoTensor, gates};
  const TensorId x = lowering.read(0, Layout::channels4);
  return {{}, lowering.workspace_like(x, {problem.images, problem.outputs, 1, tiles}, "/means"), gates};
}

// Returns the iterations of an invocation: the 1x1 convolution for all pixels that the windows cover, then
// the depthwise convolution for the pixels of the tile.
uint64_t iterations_of(const TensorDesc& x, const ExpandDemand& demand, const ExpandTile& tile,
                       bool in_runs) {
  const int64_t expands = divide_up(tile.covered(demand), tile.tile.pixels * tile.invocations);
  const int64_t filters = divide_up(tile.width * tile.height, tile.invocations);
  return kShortLoops + loop_iterations(expands, slice_iterations(x, demand.inputs, in_runs)) +
         static_cast<uint64_t>(tile.tile.slices) * loop_iterations(filters);
}

void emit_one_kernel(Lowering& lowering, const ExpandProblem& problem, const ExpandTile& tile) {
  const ExpandDemand demand = problem.demand();
  ConvWeights weights{problem.inputs, problem.outputs, 1, 1, tile.tile.slices};
  if (const ByteWeightsPointer narrow = narrow_weights(lowering, kPointwise))
    weights.bytes = narrow;
  else if (should_multiply_halves(lowering))
    weights.run = kRunOfSlices;
  else
    weights.bytes = byte_weights(lowering, kPointwise);
  const TensorId x = lowering.read(0, Layout::channels4);
  const TensorId grid = lowering.weight(lowering.node().name + "/pointwise", weight_grid(lowering, weights),
                                        conv_values(lowering, weights, kPointwise));
  const TensorId filters = depthwise_filters(lowering, kDepthwise);
  const TensorId y = lowering.write(0, Layout::channels4);
  const int64_t tiles = tiles_of(demand, tile);
  const MeansAndGates means = means_and_gates(lowering, problem, tile, tiles);
  const LastGates& last = means.last;
  Dispatch dispatch =
      make_dispatch("conv_expand", grid_of(demand, tile),
                    {reads("x", x), reads("w", grid), reads("filters", filters), writes("y", y)},
                    ConvExpandParameters{.x_shape = texel_shape(lowering.tensor(x).desc.shape),
                                         .y_shape = texel_shape(lowering.tensor(y).desc.shape),
                                         .activation_params = activation_params_or_bounds(problem.last),
                                         .middle_params = activation_params_or_bounds(problem.middle),
                                         .hidden_params = last.hidden_params,
                                         .gate_params = last.gate_params,
                                         .padding = window_pair(problem.window.padding),
                                         .tile = {tile.width, tile.height},
                                         .hidden_channels = last.hidden_channels,
                                         .counter = last.counter});
  // Pixels that several tiles need are computed several times.
  const int64_t multiplied = tiles * tile.covered(demand);
  const int64_t filtered = demand.width * demand.height * problem.window.taps();
  dispatch.macs =
      static_cast<uint64_t>(demand.images * problem.outputs * (multiplied * problem.inputs + filtered));
  dispatch.iterations = iterations_of(lowering.tensor(x).desc, demand, tile, weights.adds_in_runs());
  define_filters(lowering, dispatch, filters);
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
  add_byte_weights(lowering, dispatch, weights);
  define_activation_or_bounds(dispatch, problem.last);
  define_activation_or_bounds(dispatch, problem.middle, "MIDDLE");
  if (problem.takes_means) define(dispatch, "MEANS"), dispatch.workgroups_cooperate = true;
  if (last.op) add_gates(dispatch, last, tile.invocations);
  if (means.apart != kNoTensor) dispatch.bindings.push_back(writes("means", means.apart));
  dispatch.fused = FusedKernelId::expand;
  lowering.dispatch(std::move(dispatch));
  if (means.apart != kNoTensor)
    squeeze_in_a_workgroup(lowering, squeeze_of(lowering), problem.gates_of(tiles), means.apart, kGates,
                           means.gates);
}

// Emits the layers unfused, each with its best candidate.
void emit_unfused(Lowering& lowering, const ExpandProblem& problem) {
  const DeviceCaps& caps = lowering.caps();
  const Window2d& window = problem.window;
  const TensorId x = lowering.read(0, Layout::channels4);
  const Shape shape = lowering.op<FusedNodes>().output_of(kPointwiseNode, operator_inputs(lowering)).shape;
  const TensorId middle = lowering.workspace_like(x, shape, "/expanded");
  emit_best_pointwise(lowering,
                      {.pixels = problem.images * window.input[0] * window.input[1],
                       .inputs = problem.inputs,
                       .outputs = problem.outputs,
                       .precision = problem.precision},
                      x, middle, problem.middle, kPointwise);

  const ConvProblem depthwise =
      depthwise_problem(problem.images, problem.outputs, window, problem.last, problem.precision);
  const DepthwiseSource source{middle, kDepthwise};
  const TensorId y = lowering.write(0, Layout::channels4);
  if (!problem.takes_means) return lowering.emit_best(depthwise_candidates(depthwise, caps, y, source));
  emit_depthwise_gates(lowering, depthwise, means_tile(depthwise, caps).value(), squeeze_of(lowering),
                       problem.gates_of(1), kGates, y, lowering.write(1, Layout::channels4), source);
}

// The tile of a candidate on devices for which the model proposes none. Only measurements choose it, and
// self-checks run it.
constexpr ExpandTile kAnyExpandTile = {8, 8, {4, 1}, 64, 1};

std::string name_of(const ExpandTile& tile) {
  return std::to_string(tile.width) + "x" + std::to_string(tile.height) + "x" +
         std::to_string(tile.tile.slices) + " by " + std::to_string(tile.tile.pixels) + " in " +
         std::to_string(tile.invocations);
}

// Returns the tiles of the fused kernel. If there are gates, only tiles with which one workgroup computes
// them.
std::vector<TimedTile<ExpandTile>> tiles_with_gates(const ExpandProblem& problem, const DeviceCaps& caps) {
  std::vector<TimedTile<ExpandTile>> tiles = tiles_of_one_kernel(problem, caps);
  std::erase_if(tiles, [&](const auto& timed) {
    return problem.takes_means &&
           !is_for_a_workgroup(caps, problem.gates_of(tiles_of(problem.demand(), timed.tile)));
  });
  return tiles;
}

// --- The match ---

// Returns the operator of the 1x1 convolution and the node at `index`: a depthwise convolution, or one that
// is already fused with its squeeze-and-excitation. Returns null for other nodes.
std::shared_ptr<const FusedNodes> with_depthwise(const GraphEditor& editor, size_t index,
                                                 const std::shared_ptr<const Operator>& pointwise) {
  if (const auto both = match_node<FusedNodes>(editor, index);
      both && both->kernel == FusedKernelId::squeeze_excite)
    return expand_nodes(pointwise, both->body.nodes[0].op, both->body.nodes[1].op);
  const auto conv = match_node<Conv>(editor, index);
  return conv && is_depthwise(editor, conv) ? expand_nodes(pointwise, conv.node->op) : nullptr;
}

// Matches the layers that end with the node at `index`, even if the device gains nothing.
std::optional<FusedMatch> match_layers(const GraphEditor& editor, size_t index) {
  const Node& last = editor.node(index);
  if (editor.removed(index) || last.inputs.empty() || last.inputs[0] == kNoValue) return std::nullopt;
  const auto product = match_producer<Conv>(editor, last.inputs[0]);
  if (!product || editor.only_reader(last.inputs[0]) != index || product.node->inputs.size() > 3)
    return std::nullopt;
  const auto op = with_depthwise(editor, index, product.node->op);
  if (!op || !is_product(editor, product) || !is_float_value(editor, last.outputs[0])) return std::nullopt;
  Node node{last.name, op, inputs_or_none(*product.node, 0, 3), last.outputs};
  std::ranges::copy(inputs_or_none(last, 1, std::max<size_t>(last.inputs.size(), 3) - 1),
                    std::back_inserter(node.inputs));
  return FusedMatch{index, std::move(node), {product.index}};
}

ExpandProblem expand_problem(const GraphEditor& editor, const FusedMatch& match, Precision precision) {
  return expand_problem(dynamic_cast<const FusedNodes&>(*match.node.op),
                        operator_inputs(editor.graph(), match.node), precision);
}

}  // namespace

std::shared_ptr<const FusedNodes> expand_nodes(std::shared_ptr<const Operator> pointwise,
                                               std::shared_ptr<const Operator> depthwise,
                                               std::shared_ptr<const Operator> squeeze) {
  auto op = std::make_shared<FusedNodes>(FusedKernelId::expand);
  std::vector<ValueId> in = op->add_inputs(5);
  const ValueId middle = op->add_node("pointwise", std::move(pointwise), {in[0], in[1], in[2]});
  const ValueId y = op->add_node("depthwise", std::move(depthwise), {middle, in[3], in[4]});
  op->add_output(y);
  if (!squeeze) return op;
  in = op->add_inputs(4);
  op->add_output(op->add_node("squeeze", std::move(squeeze), {y, in[0], in[1], in[2], in[3]}));
  return op;
}

std::optional<FusedMatch> match_expand(const GraphEditor& editor, size_t index,
                                       const FusionContext& context) {
  std::optional<FusedMatch> match = match_layers(editor, index);
  if (!match) return std::nullopt;
  const ExpandProblem problem = expand_problem(editor, *match, context.precision);
  const std::vector<TimedTile<ExpandTile>> tiles = tiles_with_gates(problem, context.caps);
  if (tiles.empty()) return std::nullopt;
  const UnfusedTimes apart = layers_apart(context.caps, device_rates(context.caps), problem.demand());
  match->us = tiles.front().us;
  match->layers = {{match->removed.front(), apart.pointwise_us}, {index, apart.depthwise_us}};
  return match;
}

void lower_fused_expand(Lowering& lowering) {
  const DeviceCaps& caps = lowering.caps();
  const ExpandProblem problem =
      expand_problem(lowering.op<FusedNodes>(), operator_inputs(lowering), lowering.options().precision);
  if (!has_unrolled_taps(problem.window)) return lowering.run_on_host("its window has no kernel");
  std::vector<KernelCandidate> candidates;
  const auto add = [&](const ExpandTile& tile, double cost) {
    candidates.push_back({{"expand", name_of(tile)}, cost, [problem, tile](Lowering& node) {
                            emit_one_kernel(node, problem, tile);
                          }});
  };
  const std::vector<TimedTile<ExpandTile>> tiles = tiles_of_one_kernel(problem, caps);
  for (size_t i = 0; i < tiles.size(); ++i) add(tiles[i].tile, 0.5 + 0.1 * static_cast<double>(i));
  ExpandTile any = kAnyExpandTile;
  any.width = std::min(any.width, problem.window.output[0]);
  any.height = std::min(any.height, problem.window.output[1]);
  if (tiles.empty() && has_kernel(problem, caps) && fits_the_grid(problem.demand(), caps, any))
    add(any, kOnlyIfMeasured);
  candidates.push_back({{"layers apart"}, 1, [problem](Lowering& node) { emit_unfused(node, problem); }});
  lowering.emit_best(candidates);
}

}  // namespace vellum
