#include "kernels/fused/branches.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "caps/cooperative_matrix.hpp"
#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"
#include "cost/timed_tiles.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/movement/concat.hpp"
#include "kernels/conv/direct.hpp"
#include "kernels/conv/window.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/fused/matching.hpp"
#include "program/divide.hpp"

namespace vellum {
namespace {

constexpr int64_t kTaps = 9, kMiddle = 4;
constexpr size_t kWideNode = 1;                        // of the body
constexpr size_t kPointwiseInput = 1, kWideInput = 3;  // inputs with weights; each is followed by the bias

// Matches a convolution with constant weights, without groups, residual or scale, whose only reader is the
// node `reader`.
std::optional<Match<Conv>> match_branch(const GraphEditor& editor, ValueId value, size_t reader) {
  auto conv = match_producer<Conv>(editor, value);
  if (!conv || editor.only_reader(value) != reader || conv->group != 1 || conv.node->inputs.size() > 3)
    return std::nullopt;
  if (editor.type(conv.input(0)).shape.size() != 4 || !has_fusible_weights(editor, *conv.node))
    return std::nullopt;
  return conv;
}

bool is_3x3(const Window2d& window) {
  for (const size_t axis : {0u, 1u})
    if (window.kernel[axis] != 3 || window.stride[axis] != 1 || window.dilation[axis] != 1 ||
        window.padding[axis] != 1 || window.output[axis] != window.input[axis])
      return false;
  return true;
}

TileDemand demand_of(const Shape& x, int64_t outputs, int64_t taps) {
  TileDemand demand{x[3], x[0] * x[2], slices(outputs), x[0] * x[2] * x[3] * x[1] * outputs * taps,
                    {},   taps == 1};
  if (taps > 1) demand.row = {.taps = 3, .operations = 1};
  return demand;
}

// Returns whether one dispatch is predicted to take less time than two.
bool merges_branches(const DeviceCaps& caps, const TileDemand& narrow, const TileDemand& wide) {
  if (!device_traits(caps).merges_branches) return false;
  constexpr int64_t kMostSplit = 16;
  TileDemand both = wide;
  both.slices += narrow.slices;
  both.macs += narrow.macs;
  // The second of two dispatches needs no barrier, because both read the same input.
  const double apart = quickest(caps, narrow, kMostSplit).us + quickest(caps, wide, kMostSplit).us -
                       device_rates(caps).barrier_us;
  return quickest(caps, both, kMostSplit).us < apart;
}

// The weights of both convolutions.
struct BothWeights {
  int64_t inputs = 0, narrow_outputs = 0;
  HostTensor narrow, wide;

  // Returns a function of output channel, input channel and tap: the weights of one 3x3 convolution. Those of
  // the 1x1 convolution are zero except in the middle tap.
  ConvWeights::WeightAt weight_at() const {
    return [*this, ones = narrow.to_floats(), nines = wide.to_floats()](int64_t m, int64_t c, int64_t tap) {
      if (m >= narrow_outputs)
        return nines[static_cast<size_t>(((m - narrow_outputs) * inputs + c) * kTaps + tap)];
      return tap == kMiddle ? ones[static_cast<size_t>(m * inputs + c)] : 0.0f;
    };
  }
};

BothWeights weights_of_both(const Lowering& lowering) {
  const Shape& narrow = lowering.input_type(kPointwiseInput).shape;
  return {narrow[1], narrow[0], weights_of(lowering, kPointwiseInput), weights_of(lowering, kWideInput)};
}

WeightValues values_of_both(const Lowering& lowering, const ConvWeights& grid) {
  const auto bias_or_zeros = [&](size_t weights) {
    std::vector<float> bias = bias_of(lowering, weights);
    bias.resize(static_cast<size_t>(lowering.input_type(weights).shape[0]));
    return bias;
  };
  std::vector<float> biases = bias_or_zeros(kPointwiseInput);
  const std::vector<float> wide_bias = bias_or_zeros(kWideInput);
  biases.insert(biases.end(), wide_bias.begin(), wide_bias.end());
  WeightOrigin origin{{PackingScheme::conv, grid.packing_parameters()}, {}};
  for (size_t slot = kPointwiseInput; slot < kWideInput + 2; ++slot)
    if (lowering.has_input(slot)) origin.sources.push_back(*lowering.constant(slot));
  const auto pack = [grid, biases, weights = weights_of_both(lowering)](auto by) {
    return (grid.*by)(weights.weight_at(), biases);
  };
  WeightValues values([pack] { return pack(&ConvWeights::pack); }, std::move(origin));
  if (grid.bytes) values.make_bytes = [pack] { return pack(&ConvWeights::pack_bytes); };
  return values;
}

ByteWeightsPointer bytes_of_both(const Lowering& lowering) {
  if (!lowering.may_have_byte_weights()) return nullptr;
  const auto weight_at = weights_of_both(lowering).weight_at();
  return find_byte_weights(lowering.output_type().shape[1], lowering.input_type(0).shape[1] * kTaps,
                           [&](int64_t m, int64_t i) { return weight_at(m, i / kTaps, i % kTaps); });
}

ByteWeightsPointer narrow_weights_of_both(const Lowering& lowering) {
  if (!lowering.has_only_integer_weights()) return nullptr;
  return find_narrow_weights(
      {.outputs = lowering.output_type().shape[1], .inputs = lowering.input_type(0).shape[1], .taps = kTaps},
      weights_of_both(lowering).weight_at());
}

// Returns the problem of both as one 3x3 convolution.
ConvProblem problem_of_both(const Lowering& lowering) {
  const auto& wide = lowering.op<FusedNodes>().op<Conv>(kWideNode);
  const std::vector<OperatorInput> inputs =
      lowering.op<FusedNodes>().inputs_of(kWideNode, operator_inputs(lowering));
  const auto [n, channels, height, width] = nchw(lowering.output_type().shape);
  const Window2d window = to_2d(wide.place(inputs));
  return {.images = n,
          .inputs = inputs[0].type.shape[1],
          .outputs = channels,
          .height = height,
          .width = width,
          .whole_images = n,
          .whole_height = height,
          .whole_stays_inside = stays_inside(window),
          .window = window,
          .pointwise_outputs = lowering.input_type(kPointwiseInput).shape[0],
          .activation = wide.activation,
          .narrow = narrow_weights_of_both(lowering),
          .precision = lowering.options().precision,
          .has_much_of_common_window = has_much_of_common_window(lowering)};
}

}  // namespace

std::shared_ptr<const FusedNodes> branch_nodes(std::shared_ptr<const Operator> pointwise,
                                               std::shared_ptr<const Operator> wide) {
  auto concat = std::make_shared<Concat>();
  concat->axis = 1;
  auto op = std::make_shared<FusedNodes>(FusedKernelId::branches);
  const std::vector<ValueId> in = op->add_inputs(5);
  const ValueId first = op->add_node("pointwise", std::move(pointwise), {in[0], in[1], in[2]});
  const ValueId rest = op->add_node("wide", std::move(wide), {in[0], in[3], in[4]});
  op->add_output(op->add_node("concat", std::move(concat), {first, rest}));
  return op;
}

std::optional<FusedMatch> match_branches(const GraphEditor& editor, size_t index,
                                         const FusionContext& context) {
  const auto concat = match_node<Concat>(editor, index);
  if (!concat || concat.node->inputs.size() != 2 || !is_float_value(editor, concat.node->outputs[0]))
    return std::nullopt;
  const auto narrow = match_branch(editor, concat.input(0), index),
             wide = match_branch(editor, concat.input(1), index);
  if (!narrow || !wide || narrow->input(0) != wide->input(0) || concat->axis != 1) return std::nullopt;
  if ((*narrow)->activation != (*wide)->activation) return std::nullopt;
  const Window2d window = window_of(editor, *wide);
  if (!is_pointwise(window_of(editor, *narrow)) || !is_3x3(window) || !fits_32_bits(window))
    return std::nullopt;
  if (context.precision == Precision::fp16 && !half_products(context.caps).empty()) return std::nullopt;
  const Shape& x = editor.type(wide->input(0)).shape;
  const int64_t first = editor.type(narrow->input(1)).shape[0], rest = editor.type(wide->input(1)).shape[0];
  // Output channels of each must be whole slices. With fewer than four input channels another kernel is used.
  if (first % 16 != 0 || x[1] < 4) return std::nullopt;
  if (!merges_branches(context.caps, demand_of(x, first, 1), demand_of(x, rest, kTaps))) return std::nullopt;
  Node node{concat.node->name, branch_nodes(narrow->node->op, wide->node->op),
            inputs_or_none(*narrow->node, 0, 3), concat.node->outputs};
  std::ranges::copy(inputs_or_none(*wide->node, 1, 2), std::back_inserter(node.inputs));
  while (node.inputs.back() == kNoValue) node.inputs.pop_back();
  return FusedMatch{index, std::move(node), {narrow->index, wide->index}};
}

void lower_fused_branches(Lowering& lowering) {
  lowering.emit_best(
      direct_candidates(problem_of_both(lowering), lowering.caps(), {bytes_of_both, values_of_both}));
}

}  // namespace vellum
