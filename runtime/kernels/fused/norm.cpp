#include "kernels/fused/norm.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "caps/driver_quirks.hpp"
#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"
#include "cost/dispatch_time.hpp"
#include "cost/registers.hpp"
#include "cost/subgroups.hpp"
#include "cost/timed_tiles.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/reduction/channel_norm.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "kernels/conv/pointwise.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/shared_loop.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/fused/matching.hpp"
#include "kernels/fused/predicted_time.hpp"
#include "kernels/matmul/matmul.hpp"
#include "kernels/reduction/normalization.hpp"

namespace vellum {
namespace {

constexpr size_t kNormedNode = 0, kNormNode = 1;                                      // of the body
constexpr size_t kNormWeights = 1, kNormResidual = 3, kNormScale = 4, kNormBias = 5;  // inputs

struct NormProblem {
  int64_t images = 1, pixels = 0, width = 1;  // pixels: of all images; width: of a row of an image
  int64_t inputs = 0, outputs = 0;
  Precision precision = Precision::fp32;
  bool has_residual = false, keeps_layer = false;
  TexelNorm norm = {};
  Activation activation = {};  // of the product

  int64_t texel_bytes() const { return precision == Precision::fp16 ? 8 : 16; }
};

TexelNorm norm_of(const Operator& op) {
  if (const auto* rows = dynamic_cast<const LayerNormalization*>(&op)) return {rows->epsilon, rows->centred};
  const auto& channels = dynamic_cast<const ChannelNormalization&>(op);
  return {channels.epsilon, channels.centred, channels.activation};
}

const Activation& activation_of_product(const Operator& op) {
  if (const auto* conv = dynamic_cast<const Conv*>(&op)) return conv->activation;
  return dynamic_cast<const Gemm&>(op).activation;
}

NormProblem norm_problem(const FusedNodes& op, const std::vector<OperatorInput>& inputs,
                         Precision precision) {
  const Shape y = op.infer(inputs)[0].shape;
  const auto [n, c, h, w] = nchw(y);
  return {.images = n,
          .pixels = n * h * w,
          .width = h == 1 ? n * w : w,
          .inputs = inputs[0].type.shape[1],
          .outputs = c,
          .precision = precision,
          .has_residual = inputs[kNormResidual].present,
          .keeps_layer = op.body.outputs.size() > 1,
          .norm = norm_of(*op.body.nodes[kNormNode].op),
          .activation = activation_of_product(*op.body.nodes[kNormedNode].op)};
}

// --- Tiles ---

// A workgroup computes `pixel_tiles` tiles of pixels, and all slices of them.
struct NormTile {
  OutputTile output;
  int64_t split_k = 1, pixel_tiles = 1;

  int64_t lanes(int64_t slices) const { return divide_up(slices, output.slices) * pixel_tiles; }
  int64_t invocations(int64_t slices) const { return lanes(slices) * split_k; }
  int64_t rows() const { return output.pixels * pixel_tiles; }
  // Returns the bytes of shared memory that the shader declares: partial sums, the rows, a sum of each
  // invocation.
  int64_t shared_bytes(int64_t slices) const {
    constexpr int64_t kTexel = 16;
    const int64_t texels = output.pixels * output.slices;
    return kTexel * ((split_k > 1 ? invocations(slices) * texels : 0) + lanes(slices) * texels) +
           4 * invocations(slices);
  }
};

bool fits_a_workgroup(const DeviceCaps& caps, const NormTile& tile, int64_t slices) {
  constexpr int64_t kMostShared = 32 << 10;  // half of the shared memory of AMD's GPUs
  const int64_t invocations = tile.invocations(slices);
  return tile.lanes(slices) <= caps.max_workgroup_size[0] && tile.split_k <= caps.max_workgroup_size[1] &&
         invocations <= caps.max_workgroup_invocations &&
         invocations >= least_workgroup_with_barriers(caps) &&
         invocations <= device_traits(caps).most_full_register_group && invocations >= tile.rows() &&
         tile.shared_bytes(slices) <= std::min<int64_t>(kMostShared, caps.max_shared_memory_bytes);
}

// Dependent steps of the normalisation: texels of the rows and sums of the invocations, each twice, and
// factors.
constexpr double kStepsToNormalise = 3;

double fused_us(const DeviceCaps& caps, const DeviceRates& rates, const NormTile& tile,
                const NormProblem& problem) {
  const int64_t inputs = slices(problem.inputs), outputs = slices(problem.outputs);
  const int64_t workgroups = divide_up(divide_up(problem.pixels, tile.output.pixels), tile.pixel_tiles);
  const uint32_t subgroup = subgroup_of_large_kernels(caps);
  const auto subgroups =
      static_cast<double>(workgroups * divide_up(tile.invocations(outputs), static_cast<int64_t>(subgroup)));
  const auto products = static_cast<double>(divide_up(inputs, tile.split_k));
  const TileCode code = tile_code(device_traits(caps), tile.output, false);
  const auto ahead = static_cast<double>(
      slices_ahead(caps, tile.output, problem.precision == Precision::fp16, problem.width > 1));
  const int64_t stored = outputs * (problem.keeps_layer ? 2 : 1) + (problem.has_residual ? outputs : 0);
  const int64_t texels = problem.pixels * (inputs + stored) + (4 * inputs + 3) * outputs;
  return dispatch_time(rates, {.macs = subgroups * subgroup * products * code.macs_per_step,
                               .bytes = static_cast<double>(problem.texel_bytes() * texels),
                               .subgroups = subgroups,
                               .subgroup_size = subgroup,
                               .steps = kStepsAround + (tile.split_k > 1 ? kStepsToReduce : 0) +
                                        kStepsToNormalise + products / ahead,
                               .resident = code.resident})
      .total_us(code.efficiency);
}

double norm_us(const DeviceCaps& caps, const DeviceRates& rates, const NormProblem& problem) {
  const int64_t texels = slices(problem.outputs);
  const SharedLoop loop{.results = problem.pixels, .length = texels, .along = true, .iterations = 3};
  const int64_t lanes = loop_by(caps, loop) == LoopBy::invocation ? 1 : kRowWorkgroup;
  constexpr double kLoadedTogether = 4;
  const double rounds = static_cast<double>(divide_up(texels, lanes));
  return dispatch_time(rates,
                       {.bytes = static_cast<double>(2 * problem.texel_bytes() * problem.pixels * texels),
                        .subgroups = static_cast<double>(problem.pixels * lanes) / subgroup_size(caps),
                        .subgroup_size = subgroup_size(caps),
                        .steps = kStepsAround + 2 * std::max(1.0, rounds / kLoadedTogether)})
      .total_us(1);
}

UnfusedTimes nodes_apart(const DeviceCaps& caps, const DeviceRates& rates, const NormProblem& problem) {
  return {norm_us(caps, rates, problem),
          product_us(caps, rates, problem.pixels, problem.width, slices(problem.inputs),
                     slices(problem.outputs), problem.texel_bytes())};
}

std::vector<NormTile> all_tiles(const NormProblem& problem, const DeviceCaps& caps) {
  const int64_t outputs = slices(problem.outputs);
  std::vector<NormTile> tiles;
  for (const int64_t split : {1, 4, 16})
    for (const int64_t pixels : {1, 2, 4, 8})
      for (const int64_t width : {1, 2, 4})
        for (const int64_t together : {1, 2, 4, 8}) {
          const NormTile tile{{pixels, width}, split, together};
          const TileDemand demand{
              problem.pixels, 1, outputs, problem.pixels * problem.inputs * problem.outputs, {}, true};
          const bool wasteful = (width > 1 && width >= 2 * outputs) || split > slices(problem.inputs) ||
                                (tile.rows() > 1 && tile.rows() >= 2 * problem.pixels);
          if (!wasteful && fits_a_workgroup(caps, tile, outputs) && holds_sums(caps, tile.output, demand))
            tiles.push_back(tile);
        }
  return tiles;
}

// Returns whether matrices or blocks in shared memory multiply quicker than tiles of single invocations.
bool prefers_matrices(const NormProblem& problem, const DeviceCaps& caps) {
  constexpr double kAnyCost = 1;
  const auto tiles = matrix_tiles(caps,
                                  {.pixels = problem.pixels,
                                   .inputs = problem.inputs,
                                   .outputs = problem.outputs,
                                   .precision = problem.precision},
                                  kAnyCost);
  return std::ranges::any_of(tiles, [](const auto& tile) { return tile.predicted_cost < kOnlyIfMeasured; });
}

std::vector<TimedTile<NormTile>> tiles_of_norm(const NormProblem& problem, const DeviceCaps& caps) {
  if (!device_traits(caps).fuses_norms || prefers_matrices(problem, caps)) return {};
  const DeviceRates rates = device_rates(caps);
  return quickest_tiles(
      all_tiles(problem, caps), [&](const NormTile& tile) { return fused_us(caps, rates, tile, problem); },
      nodes_apart(caps, rates, problem));
}

// --- Emission ---

struct NormTensors {
  TensorId x = kNoTensor, residual = kNoTensor, y = kNoTensor, layer = kNoTensor;
};

NormTensors read_and_write(Lowering& lowering, const NormProblem& problem) {
  NormTensors tensors{.x = lowering.read(0, Layout::channels4)};
  if (problem.has_residual) tensors.residual = lowering.read(kNormResidual, Layout::channels4);
  tensors.y = lowering.write(0, Layout::channels4);
  if (problem.keeps_layer) tensors.layer = lowering.write(1, Layout::channels4);
  return tensors;
}

// Returns whether the device can bind all tensors of the kernel: these, weights and factors.
bool can_bind_all(const Lowering& lowering, const NormTensors& tensors) {
  uint32_t buffers = 2;
  for (const TensorId id : {tensors.x, tensors.residual, tensors.y, tensors.layer})
    buffers += id != kNoTensor && lowering.tensor(id).desc.storage == Storage::buffer;
  return buffers <= lowering.caps().max_storage_buffers_per_stage;
}

// Emits the product and the normalisation, each with its best candidate.
void emit_nodes_apart(Lowering& lowering, const NormProblem& problem, NormTensors tensors) {
  const Operator& product = *lowering.op<FusedNodes>().body.nodes[kNormedNode].op;
  if (tensors.layer == kNoTensor)
    tensors.layer = lowering.workspace_like(tensors.y, lowering.tensor(tensors.y).desc.shape, "/layer");
  if (const auto* gemm = dynamic_cast<const Gemm*>(&product))
    lower_gemm_into(lowering, *gemm, tensors.layer);
  else
    emit_best_pointwise(lowering,
                        {.pixels = problem.pixels,
                         .inputs = problem.inputs,
                         .outputs = problem.outputs,
                         .precision = problem.precision},
                        tensors.x, tensors.layer, problem.activation, kNormWeights,
                        {.residual = tensors.residual});
  normalize_pixels(lowering, problem.norm, kNormScale, tensors.layer, tensors.y);
}

// Returns the values of the weights, whose type it chooses.
WeightValues norm_weights(Lowering& lowering, ConvWeights& weights) {
  const Operator& product = *lowering.op<FusedNodes>().body.nodes[kNormedNode].op;
  if (const auto* gemm = dynamic_cast<const Gemm*>(&product)) return gemm_values(lowering, *gemm, weights);
  choose_weight_type(lowering, weights);
  return conv_values(lowering, weights);
}

void emit_norm(Lowering& lowering, const NormProblem& problem, const NormTile& tile) {
  ConvWeights weights{problem.inputs, problem.outputs, 1, 1, tile.output.slices};
  WeightValues values = norm_weights(lowering, weights);  // chooses, before inputs are read
  const NormTensors tensors = read_and_write(lowering, problem);
  if (!can_bind_all(lowering, tensors)) return emit_nodes_apart(lowering, problem, tensors);
  const Activation& last = problem.norm.activation;
  const bool activates_last = last.kind != ActivationKind::none;
  const PixelNorm norm{.epsilon = problem.norm.epsilon,
                       .centred = problem.norm.centred,
                       .activates_last = activates_last,
                       .pixel_tiles = tile.pixel_tiles,
                       .factors = norm_factors(lowering, kNormScale),
                       .layer = tensors.layer};
  const InvocationTile shared =
      tile.split_k > 1 ? InvocationTile{tile.output, SplitK{tile.split_k}} : InvocationTile{tile.output};
  dispatch_pointwise(lowering, tensors.x, tensors.y, weights, shared,
                     activates_last ? last : problem.activation, std::move(values),
                     {.residual = tensors.residual, .norm = norm});
}

std::string name_of(const NormTile& tile) {
  return std::to_string(tile.output.pixels) + "x" + std::to_string(tile.output.slices) + " by " +
         std::to_string(tile.pixel_tiles) + ", " + std::to_string(tile.split_k) + " parts";
}

// --- The match ---

// Matches a normalisation of the channels of matrices or pictures at `index` with constant factors.
Match<Operator> match_channel_norm(const GraphEditor& editor, size_t index) {
  const auto node = match_node<Operator>(editor, index);
  if (!node || node.node->outputs.size() != 1 || !is_float_value(editor, node.node->outputs[0])) return {};
  const Shape& shape = editor.type(node.node->outputs[0]).shape;
  if (const auto rows = match_node<LayerNormalization>(editor, index)) {
    if (shape.size() != 2 || normalize_axis(rows->axis, 2) != 1) return {};
  } else if (const auto channels = match_node<ChannelNormalization>(editor, index)) {
    if (shape.size() > 4 || channels->activation.is_rounded()) return {};
  } else {
    return {};
  }
  const auto is_of_channels = [&](size_t slot) {
    const HostTensor* factors = editor.constant(input_or_none(*node.node, slot));
    return factors && factors->elements() == shape[1];
  };
  const bool has_bias = input_or_none(*node.node, 2) != kNoValue;
  return is_of_channels(1) && (!has_bias || is_of_channels(2)) ? node : Match<Operator>{};
}

// Returns whether a product's rows are pixels of a 1x1 convolution with constant weights.
bool is_product_of_pixels(const GraphEditor& editor, const Node& node) {
  if (const auto* conv = dynamic_cast<const Conv*>(node.op.get()))
    return editor.type(node.inputs[0]).shape.size() <= 4 && !conv->activation.is_rounded() &&
           is_product(editor, {conv, &node, 0});
  const auto* gemm = dynamic_cast<const Gemm*>(node.op.get());
  if (!gemm || gemm->transpose_a || gemm->activation.is_rounded()) return false;
  const ValueId bias = input_or_none(node, 2);
  const bool varies =
      bias != kNoValue && editor.type(bias).shape.size() == 2 && editor.type(bias).shape[0] != 1;
  return editor.constant(node.inputs[1]) && !editor.constant(node.inputs[0]) &&
         is_constant_or_absent(editor, node, 2) && !varies;
}

// Returns whether all nodes but `index` that read the value come after it.
bool is_read_later(const GraphEditor& editor, ValueId value, size_t index) {
  return std::ranges::all_of(editor.readers(value), [&](size_t reader) { return reader >= index; });
}

}  // namespace

std::shared_ptr<const FusedNodes> norm_nodes(std::shared_ptr<const Operator> product,
                                             std::shared_ptr<const Operator> norm, bool keeps_layer) {
  auto op = std::make_shared<FusedNodes>(FusedKernelId::norm);
  const std::vector<ValueId> in = op->add_inputs(kNormBias + 1);
  const ValueId layer = op->add_node("layer", std::move(product), {in[0], in[1], in[2], in[3]});
  op->add_output(op->add_node("norm", std::move(norm), {layer, in[kNormScale], in[kNormBias]}));
  if (keeps_layer) op->add_output(layer);
  return op;
}

bool gains_by_norm(const FusedNodes& op, const std::vector<OperatorInput>& inputs, const DeviceCaps& caps,
                   Precision precision) {
  return !tiles_of_norm(norm_problem(op, inputs, precision), caps).empty();
}

std::optional<FusedMatch> match_norm(const GraphEditor& editor, size_t index, const FusionContext& context) {
  if (!device_traits(context.caps).fuses_norms) return std::nullopt;
  const Match<Operator> norm = match_channel_norm(editor, index);
  if (!norm) return std::nullopt;
  const ValueId sum = norm.input(0);
  const auto product = match_producer<Operator>(editor, sum);
  if (!product || product.node->outputs.size() != 1 || !is_float_value(editor, sum) ||
      !is_product_of_pixels(editor, *product.node) || !is_read_later(editor, sum, index))
    return std::nullopt;
  const bool activates = activation_of_product(*product.op).kind != ActivationKind::none;
  if (activates && norm_of(*norm.op).activation.kind != ActivationKind::none) return std::nullopt;
  const bool keeps_layer = editor.only_reader(sum) != index;
  Node node{norm.node->name, norm_nodes(product.node->op, norm.node->op, keeps_layer),
            inputs_or_none(*product.node, 0, kNormScale), norm.node->outputs};
  node.inputs.push_back(norm.input(1));
  node.inputs.push_back(input_or_none(*norm.node, 2));
  if (keeps_layer) node.outputs.push_back(sum);
  const NormProblem problem = norm_problem(dynamic_cast<const FusedNodes&>(*node.op),
                                           operator_inputs(editor.graph(), node), context.precision);
  const std::vector<TimedTile<NormTile>> tiles = tiles_of_norm(problem, context.caps);
  if (tiles.empty()) return std::nullopt;
  const UnfusedTimes apart = nodes_apart(context.caps, device_rates(context.caps), problem);
  return FusedMatch{index,
                    std::move(node),
                    {product.index},
                    tiles.front().us,
                    {{product.index, apart.product_us}, {index, apart.other_us}}};
}

void lower_fused_norm(Lowering& lowering) {
  const NormProblem problem =
      norm_problem(lowering.op<FusedNodes>(), operator_inputs(lowering), lowering.options().precision);
  std::vector<KernelCandidate> candidates;
  const auto add = [&](const NormTile& tile, double cost) {
    candidates.push_back(
        {{"norm", name_of(tile)}, cost, [problem, tile](Lowering& node) { emit_norm(node, problem, tile); }});
  };
  const std::vector<TimedTile<NormTile>> tiles = tiles_of_norm(problem, lowering.caps());
  for (size_t i = 0; i < tiles.size(); ++i) add(tiles[i].tile, 0.5 + 0.1 * static_cast<double>(i));
  // For devices for which the model proposes none: only measurements choose it, and self-checks run it.
  if (tiles.empty())
    if (const auto any = all_tiles(problem, lowering.caps()); !any.empty()) add(any.back(), kOnlyIfMeasured);
  candidates.push_back({{"nodes apart"}, 1, [problem](Lowering& node) {
                          emit_nodes_apart(node, problem, read_and_write(node, problem));
                        }});
  lowering.emit_best(candidates);
}

}  // namespace vellum
