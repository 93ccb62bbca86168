#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Whether the kernel of a Gemm adds a residual: with constant weights, and a bias that is the same in all
// rows.
bool can_add_residual(const GraphEditor& editor, const Match<Gemm>& gemm) {
  const Node& node = *gemm.node;
  if (gemm->transpose_a || node.inputs.size() > 3) return false;
  if (!is_constant_or_absent(editor, node, 1) || !is_constant_or_absent(editor, node, 2)) return false;
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return true;
  const Shape& bias = editor.type(node.inputs[2]).shape;
  return bias.size() < 2 || bias[0] == 1;
}

// Whether the kernel of a Conv adds a residual: over a line or a plane, with constant weights.
bool can_add_residual(const GraphEditor& editor, const Match<Conv>& conv) {
  return conv.node->inputs.size() <= 3 && editor.type(conv.input(0)).shape.size() <= 4 &&
         editor.constant(conv.input(1)) != nullptr;
}

// The tensor that `value` holds, without channels that a Pad appended as zeros: the Conv's kernel appends
// them.
ValueId without_padded_channels(const GraphEditor& editor, ValueId value) {
  const auto pad = match_zero_pad(editor, value);
  if (!pad) return value;
  const PadAmounts& amounts = pad->amounts;
  for (size_t axis = 0; axis < amounts.begin.size(); ++axis) {
    if (amounts.begin[axis] != 0 || amounts.end[axis] < 0 || (axis != 1 && amounts.end[axis] != 0))
      return value;
  }
  return pad->input;
}

// The sum that an operand of the Add is, and the bounds or the rounding that it gets first: a quantised model
// rounds each tensor.
struct Sum {
  ValueId value = kNoValue;
  Activation clip;
};

// The activation of a Conv or Gemm that computes `value`, or none.
Activation activation_of(const GraphEditor& editor, ValueId value) {
  if (const auto gemm = match_producer<Gemm>(editor, value)) return gemm->activation;
  if (const auto conv = match_producer<Conv>(editor, value)) return conv->activation;
  return {};
}

std::optional<Sum> sum_of(const GraphEditor& editor, size_t add, ValueId operand) {
  if (editor.only_reader(operand) != add) return std::nullopt;
  // matmul_to_gemm and the TFLite importer make a rounding a part of the product.
  if (const Activation rounding = activation_of(editor, operand); rounding.only_rounds()) {
    const bool plain = !rounding.is_scaled() && !rounding.bounds_sum() && rounding.least < rounding.most;
    return plain ? std::optional(Sum{operand, rounding}) : std::nullopt;
  }
  const auto applied = match_activation(editor, operand);
  if (!applied) return Sum{operand, {}};
  const Activation& clip = applied->activation;
  const auto source = editor.producer(operand);
  const bool clips = clip.kind == ActivationKind::clip && is_bounds(clip) && clip.alpha < clip.beta &&
                     std::isfinite(clip.alpha) && std::isfinite(clip.beta);
  const bool rounds = clip.only_rounds() && clip.least < clip.most;
  if (!clips && !rounds) return std::nullopt;
  if (applied->input == kNoValue || editor.only_reader(applied->input) != source) return std::nullopt;
  return Sum{applied->input, clip};
}

template <typename Product>
std::shared_ptr<const Operator> without_activation(const Product& product) {
  auto sums = std::make_shared<Product>(product);
  sums->activation = {};
  return sums;
}

std::shared_ptr<const Operator> sums_of(std::shared_ptr<const Operator> op) {
  if (const auto* gemm = dynamic_cast<const Gemm*>(op.get())) return without_activation(*gemm);
  if (const auto* conv = dynamic_cast<const Conv*>(op.get())) return without_activation(*conv);
  return op;
}

// `fixed_point`: of the Add, whose operand `slot` is the sum.
std::shared_ptr<const Operator> with_bounds(std::shared_ptr<const Operator> op, const Activation& clip,
                                            const FixedPair& fixed_point, size_t slot) {
  if (!clip) return op;
  op = sums_of(std::move(op));
  Activation bounds;
  bounds.fixed_sum = slot == 0 ? fixed_point : fixed_point.swapped();
  bounds.sum_step = clip.step;
  bounds.ties_away = clip.ties_away;
  bounds.sum_low = clip.is_rounded() ? clip.least : clip.alpha;
  bounds.sum_high = clip.is_rounded() ? clip.most : clip.beta;
  return op->with_activation(bounds);
}

// A bias that is added to a rounded product, in which it is no bias: a residual of one row. Nothing if `bias`
// is no constant for each column.
std::optional<ValueId> row_of_bias(GraphEditor& editor, ValueId bias, const TensorType& product) {
  const HostTensor* constant = editor.constant(bias);
  if (constant == nullptr || constant->dtype() != product.dtype || constant->elements() != product.shape[1])
    return std::nullopt;
  const Shape& shape = constant->shape();
  if (shape.empty() || shape.size() > 2 || shape.back() != product.shape[1]) return std::nullopt;
  return editor.add_constant(editor.graph().values[bias].name + "/row",
                             constant->reshaped({1, product.shape[1]}));
}

// The Add becomes the Conv or Gemm, not the other way round: the other operand may be computed after the
// Conv.
bool fuse_operand(GraphEditor& editor, size_t index, size_t slot) {
  const ValueId operand = editor.node(index).inputs[slot], other = editor.node(index).inputs[1 - slot];
  const ValueId output = editor.node(index).outputs[0];
  const auto sum = sum_of(editor, index, operand);
  if (!sum) return false;
  const ValueId result = sum->value;
  const auto gemm = match_producer<Gemm>(editor, result);
  const auto conv = match_producer<Conv>(editor, result);
  if (!gemm && !conv) return false;
  if (gemm ? !can_add_residual(editor, gemm) : !can_add_residual(editor, conv)) return false;
  if (activation_of(editor, result) && (result != operand || !sum->clip)) return false;
  const auto add = match_node<Binary>(editor, index);
  const FixedPair& fixed_point = add->fixed_point;
  if (fixed_point && (gemm || !sum->clip.is_rounded())) return false;  // only a Conv adds integers
  if (editor.type(result) != editor.type(output)) return false;
  ValueId added = other;
  if (editor.type(other) != editor.type(output)) {
    const auto row =
        gemm && sum->clip.is_rounded() ? row_of_bias(editor, other, editor.type(output)) : std::nullopt;
    if (!row) return false;
    added = *row;
  }
  const size_t source = gemm ? gemm.index : conv.index;
  auto fused = with_bounds(editor.node(source).op, sum->clip, fixed_point, slot);
  if (add->activation) fused = fused->with_activation(add->activation);
  if (!fused) return false;
  auto inputs = editor.node(source).inputs;
  inputs.resize(3, kNoValue);
  inputs.push_back(conv ? without_padded_channels(editor, added) : added);
  const auto clipped = operand != result ? editor.producer(operand) : std::nullopt;
  editor.replace(index, std::move(fused), std::move(inputs));
  editor.remove(source);
  if (clipped) editor.remove(*clipped);
  return true;
}

}  // namespace

void fuse_residual(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    const auto add = match_node<Binary>(editor, index);
    if (!add || add->kind != BinaryKind::add || (add->activation && !add->combines_integers())) continue;
    if (!is_float_value(editor, editor.node(index).outputs[0])) continue;
    if (!fuse_operand(editor, index, 0)) fuse_operand(editor, index, 1);
  }
  editor.commit();
}

}  // namespace vellum
