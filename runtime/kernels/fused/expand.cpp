#include "kernels/fused/expand.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "caps/cooperative_matrix.hpp"
#include "cost/device_rates.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/reduction/squeeze_excite.hpp"
#include "kernels/conv/depthwise.hpp"
#include "kernels/conv/dispatch.hpp"
#include "kernels/conv/pointwise.hpp"
#include "kernels/conv/problem.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/elementwise/elementwise.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/fused/expand_match.hpp"
#include "kernels/fused/expand_tiles.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/fused/squeeze_excite.hpp"
#include "kernels/reduction/squeeze_excite.hpp"
#include "shaders/conv/conv_expand.h"

namespace vellum {
namespace {

constexpr size_t kPointwiseNode = 0;
// The first inputs of the 1x1 convolution, the depthwise convolution, and of the gates or tables.
constexpr size_t kPointwise = 1, kDepthwise = 3, kGates = 5, kMiddleTable = 5, kLastTable = 6;

// The operators of the body.
struct ExpandBody {
  const Conv *pointwise = nullptr, *depthwise = nullptr;
  size_t depthwise_node = 0;
  const SqueezeExcite* squeeze = nullptr;
  const ByteTable *middle = nullptr, *last = nullptr;
};

ExpandBody body_of_expand(const FusedNodes& op) {
  ExpandBody body{.pointwise = &op.op<Conv>(kPointwiseNode)};
  for (size_t i = 1; i < op.body.nodes.size(); ++i) {
    const Operator* node = op.body.nodes[i].op.get();
    if (const auto* conv = dynamic_cast<const Conv*>(node)) body.depthwise = conv, body.depthwise_node = i;
    if (const auto* squeeze = dynamic_cast<const SqueezeExcite*>(node)) body.squeeze = squeeze;
    if (const auto* table = dynamic_cast<const ByteTable*>(node))
      (body.depthwise ? body.last : body.middle) = table;
  }
  return body;
}

struct ExpandProblem {
  int64_t images = 1, inputs = 1, outputs = 1;  // channels
  Window2d window;
  Precision precision = Precision::fp32;
  bool takes_means = false;
  SqueezeSizes gates = {};            // sizes with one mean for each channel
  Activation middle = {}, last = {};  // of the two convolutions
  bool has_tables = false;

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
  const ExpandBody body = body_of_expand(op);
  SqueezeSizes gates{};
  if (body.squeeze)
    gates = {inputs[0].type.shape[0], middle.shape[1], inputs[kGates].type.shape[0],
             inputs[kGates + 2].type.shape[0], 1};
  return {.images = inputs[0].type.shape[0],
          .inputs = inputs[0].type.shape[1],
          .outputs = middle.shape[1],
          .window = to_2d(body.depthwise->place(op.inputs_of(body.depthwise_node, inputs))),
          .precision = precision,
          .takes_means = body.squeeze != nullptr,
          .gates = gates,
          .middle = body.pointwise->activation,
          .last = body.depthwise->activation,
          .has_tables = body.middle || body.last};
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
  // The kernel binds x, two weights, y and the means or the tables. Devices guarantee only four buffers for a
  // dispatch; tables are in images where results are.
  const uint32_t buffers = problem.takes_means || (problem.has_tables && !caps.prefers_images) ? 5 : 4;
  return texels > 0 && fits_32_bits(problem.window) && has_unrolled_taps(problem.window) &&
         windows_reach_pixels(problem.window) && buffers <= caps.max_storage_buffers_per_stage;
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
  return *body_of_expand(lowering.op<FusedNodes>()).squeeze;
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

// Binds the tables of the results of both convolutions.
void add_tables(Lowering& lowering, Dispatch& dispatch, const ExpandProblem& problem) {
  if (!problem.has_tables) return;
  const ExpandBody body = body_of_expand(lowering.op<FusedNodes>());
  std::vector<float> middle, last;
  if (body.middle) {
    middle = entries_from(*lowering.constant(kMiddleTable), *body.middle, problem.middle);
    define(dispatch, "MIDDLE_TABLE");
  }
  if (body.last) {
    last = entries_from(*lowering.constant(kLastTable), *body.last, problem.last);
    define(dispatch, "LAST_TABLE");
  }
  dispatch.bindings.push_back(reads("tables", pair_of_tables(lowering, std::move(middle), std::move(last))));
}

// Returns whether the tensors can be bound. The tables have the storage of the result.
bool binds_tables(const Lowering& lowering, const ExpandProblem& problem) {
  return !problem.has_tables || lowering.caps().max_storage_buffers_per_stage >= 5 ||
         lowering.texel_grid(1, 1).storage == Storage::image2d;
}

void emit_one_kernel(Lowering& lowering, const ExpandProblem& problem, const ExpandTile& tile) {
  const ExpandDemand demand = problem.demand();
  ConvWeights weights{problem.inputs, problem.outputs, 1, 1, tile.tile.slices};
  choose_weight_type(lowering, weights, kPointwise);
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
  add_tables(lowering, dispatch, problem);
  if (means.apart != kNoTensor) dispatch.bindings.push_back(writes("means", means.apart));
  dispatch.fused = FusedKernelId::expand;
  lowering.dispatch(std::move(dispatch));
  if (means.apart != kNoTensor)
    squeeze_in_a_workgroup(lowering, squeeze_of(lowering), problem.gates_of(tiles), means.apart, kGates,
                           means.gates);
}

// Emits the depthwise convolution of `middle`, and its table.
void emit_depthwise_of(Lowering& lowering, const ConvProblem& problem, TensorId middle, TensorId y,
                       const ByteTable* table) {
  const TensorId sums = table ? lowering.workspace_like(y, lowering.tensor(y).desc.shape, "/depthwise") : y;
  lowering.emit_best(depthwise_candidates(problem, lowering.caps(), sums, {middle, kDepthwise}));
  if (table) look_up(lowering, *table, *lowering.constant(kLastTable), Layout::channels4, sums, y);
}

// Emits the layers unfused, each with its best candidate.
void emit_unfused(Lowering& lowering, const ExpandProblem& problem) {
  const DeviceCaps& caps = lowering.caps();
  const Window2d& window = problem.window;
  const ExpandBody body = body_of_expand(lowering.op<FusedNodes>());
  const TensorId x = lowering.read(0, Layout::channels4);
  const Shape shape = lowering.op<FusedNodes>().output_of(kPointwiseNode, operator_inputs(lowering)).shape;
  TensorId middle = lowering.workspace_like(x, shape, "/expanded");
  emit_best_pointwise(lowering,
                      {.pixels = problem.images * window.input[0] * window.input[1],
                       .inputs = problem.inputs,
                       .outputs = problem.outputs,
                       .precision = problem.precision},
                      x, middle, problem.middle, kPointwise);
  if (body.middle) {
    const TensorId sums = std::exchange(middle, lowering.workspace_like(x, shape, "/looked up"));
    look_up(lowering, *body.middle, *lowering.constant(kMiddleTable), Layout::channels4, sums, middle);
  }

  const ConvProblem depthwise =
      depthwise_problem(problem.images, problem.outputs, window, problem.last, problem.precision);
  const TensorId y = lowering.write(0, Layout::channels4);
  if (!problem.takes_means) return emit_depthwise_of(lowering, depthwise, middle, y, body.last);
  emit_depthwise_gates(lowering, depthwise, means_tile(depthwise, caps).value(), squeeze_of(lowering),
                       problem.gates_of(1), kGates, y, lowering.write(1, Layout::channels4),
                       {middle, kDepthwise});
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

ExpandProblem expand_problem(const GraphEditor& editor, const FusedMatch& match, Precision precision) {
  return expand_problem(dynamic_cast<const FusedNodes&>(*match.node.op),
                        operator_inputs(editor.graph(), match.node), precision);
}

}  // namespace

std::shared_ptr<const FusedNodes> expand_nodes(std::shared_ptr<const Operator> pointwise,
                                               std::shared_ptr<const Operator> depthwise,
                                               std::shared_ptr<const Operator> squeeze,
                                               const ExpandTables& tables) {
  auto op = std::make_shared<FusedNodes>(FusedKernelId::expand);
  std::vector<ValueId> in = op->add_inputs(5);
  const std::vector<ValueId> entries =
      tables.middle || tables.last ? op->add_inputs(2) : std::vector<ValueId>();
  ValueId middle = op->add_node("pointwise", std::move(pointwise), {in[0], in[1], in[2]});
  if (tables.middle) middle = op->add_node("middle table", tables.middle, {middle, entries[0]});
  ValueId y = op->add_node("depthwise", std::move(depthwise), {middle, in[3], in[4]});
  if (tables.last) y = op->add_node("last table", tables.last, {y, entries[1]});
  op->add_output(y);
  if (!squeeze) return op;
  in = op->add_inputs(4);
  op->add_output(op->add_node("squeeze", std::move(squeeze), {y, in[0], in[1], in[2], in[3]}));
  return op;
}

std::optional<FusedMatch> match_expand(const GraphEditor& editor, size_t index,
                                       const FusionContext& context) {
  std::optional<ExpandLayers> layers = match_expand_layers(editor, index);
  if (!layers) return std::nullopt;
  FusedMatch* match = &layers->match;
  const ExpandProblem problem = expand_problem(editor, *match, context.precision);
  const std::vector<TimedTile<ExpandTile>> tiles = tiles_with_gates(problem, context.caps);
  if (tiles.empty()) return std::nullopt;
  const UnfusedTimes apart = layers_apart(context.caps, device_rates(context.caps), problem.demand());
  match->us = tiles.front().us;
  match->layers = {{layers->pointwise, apart.product_us}, {layers->depthwise, apart.other_us}};
  return std::move(layers->match);
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
  const bool binds = binds_tables(lowering, problem);
  std::vector<TimedTile<ExpandTile>> tiles;
  if (binds) tiles = tiles_of_one_kernel(problem, caps);
  for (size_t i = 0; i < tiles.size(); ++i) add(tiles[i].tile, 0.5 + 0.1 * static_cast<double>(i));
  ExpandTile any = kAnyExpandTile;
  any.width = std::min(any.width, problem.window.output[0]);
  any.height = std::min(any.height, problem.window.output[1]);
  if (binds && tiles.empty() && has_kernel(problem, caps) && fits_the_grid(problem.demand(), caps, any))
    add(any, kOnlyIfMeasured);
  candidates.push_back({{"layers apart"}, 1, [problem](Lowering& node) { emit_unfused(node, problem); }});
  lowering.emit_best(candidates);
}

}  // namespace vellum
