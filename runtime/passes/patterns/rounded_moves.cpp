#include "passes/patterns/rounded_moves.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "passes/patterns/attention_scores.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

bool rearranges_elements(const Node& node) {
  const Operator* op = node.op.get();
  return dynamic_cast<const ReshapeFamily*>(op) != nullptr || dynamic_cast<const Transpose*>(op) != nullptr ||
         dynamic_cast<const Slice*>(op) != nullptr || dynamic_cast<const Gather*>(op) != nullptr;
}

// The scaling and the rounding of what nodes rearrange, as quantised models have them of queries.
struct RoundedMoves {
  size_t rounding = 0;
  std::optional<size_t> scaling;
  size_t first = 0;  // the first of the nodes that rearrange the elements of `source`
  ValueId source = kNoValue, moved = kNoValue;
};

// Nothing unless each node has one reader. `source` is computed by no node that rearranges: else the nodes
// would no longer be a view of a tensor that exists.
std::optional<RoundedMoves> match_rounded_moves(const GraphEditor& editor, ValueId value) {
  const auto rounding = match_rounding(editor, value);
  if (!rounding || !editor.only_reader(value)) return std::nullopt;
  RoundedMoves found;
  found.rounding = rounding->index;
  found.moved = rounding->input();
  if (!editor.only_reader(found.moved)) return std::nullopt;
  const auto scaled = match_scalar(editor, found.moved);
  if (scaled && scaled->kind == BinaryKind::mul) {
    found.scaling = editor.producer(found.moved);
    found.moved = scaled->input;
  }
  found.source = found.moved;
  auto producer = editor.producer(found.source);
  for (; producer && rearranges_elements(editor.node(*producer)); producer = editor.producer(found.source)) {
    if (!editor.only_reader(found.source)) return std::nullopt;
    found.first = *producer;
    found.source = editor.node(*producer).inputs[0];
  }
  return producer && found.source != found.moved ? std::optional(found) : std::nullopt;
}

// value = factor * input, if the product is the same float for each input. A quotient is such a product if
// the divisor is a power of two.
struct ExactProduct {
  float factor = 1.0f;
  ValueId input = kNoValue;
};

std::optional<ExactProduct> match_exact_product(const GraphEditor& editor, ValueId value) {
  const auto source = editor.producer(value);
  const auto product = source ? match_binary_constant(editor, *source) : std::nullopt;
  if (!product || product->constant->elements() != 1 || product->op->activation || product->op->fixed_point)
    return std::nullopt;
  const float constant = product->constant->to_floats()[0];
  if (!std::isfinite(constant) || constant == 0.0f) return std::nullopt;
  const ValueId input = editor.node(*source).inputs[product->data_slot];
  if (product->op->kind == BinaryKind::mul) return ExactProduct{constant, input};
  int exponent = 0;
  const bool is_power_of_two = std::abs(std::frexp(constant, &exponent)) == 0.5f && std::abs(exponent) < 100;
  if (product->op->kind != BinaryKind::div || product->data_slot != 0 || !is_power_of_two)
    return std::nullopt;
  return ExactProduct{1.0f / constant, input};
}

}  // namespace

std::optional<RoundedOperand> match_rounded_operand(const GraphEditor& editor, ValueId value) {
  const auto rounding = match_rounding(editor, value);
  if (!rounding || !editor.only_reader(value)) return std::nullopt;
  RoundedOperand found{{1.0f, (*rounding)->activation}, rounding->input()};
  if (const auto product = match_exact_product(editor, found.moved)) {
    if (!editor.only_reader(found.moved)) return std::nullopt;
    found.rounding.factor = product->factor;
    found.moved = product->input;
  }
  const auto mover = editor.producer(found.moved);
  if (!mover || !rearranges_elements(editor.node(*mover))) return std::nullopt;
  if (editor.type(found.moved).dtype != DType::f32 ||
      editor.type(found.moved).shape != editor.type(value).shape)
    return std::nullopt;
  return found;
}

void round_before_moves(GraphEditor& editor, ValueId value) {
  const auto found = match_rounded_moves(editor, value);
  if (!found) return;
  const TensorType type = editor.type(found->source);
  constexpr int64_t kMostTimes = 4;  // queries, keys and values in one tensor are thrice as many elements
  if (element_count(type.shape) > kMostTimes * element_count(editor.type(value).shape)) return;
  const Node rounding = editor.node(found->rounding);
  ValueId rounded = found->source;
  if (found->scaling) {
    const Node scaling = editor.node(*found->scaling);
    std::vector<ValueId> inputs = scaling.inputs;
    std::ranges::replace(inputs, found->moved, found->source);
    for (const ValueId input : inputs)
      if (editor.type(input).shape.size() > type.shape.size()) return;
    rounded = editor.compute_before(found->first, scaling.name, scaling.op, std::move(inputs), type);
  }
  rounded = editor.compute_before(found->first, rounding.name, rounding.op, {rounded}, type);
  std::vector<ValueId> inputs = editor.node(found->first).inputs;
  inputs[0] = rounded;
  editor.set_inputs(found->first, std::move(inputs));
  editor.replace_reads(value, found->moved);
  editor.remove(found->rounding);
  if (found->scaling) editor.remove(*found->scaling);
}

}  // namespace vellum
