#include "passes/patterns/attention_scores.hpp"

#include <algorithm>
#include <utility>

#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/reduction/softmax.hpp"

namespace vellum {

std::optional<Match<Unary>> match_rounding(const GraphEditor& editor, ValueId value) {
  const auto found = match_producer<Unary>(editor, value);
  const bool rounds = found && found->kind == UnaryKind::activation && found->activation.only_rounds();
  return rounds ? std::optional(found) : std::nullopt;
}

namespace {

// value = input times a constant for each head; scores have the shape (batch, head, token, token).
struct HeadFactors {
  ValueId input = kNoValue;
  HostTensor factors;
};

std::optional<HeadFactors> match_head_factors(const GraphEditor& editor, ValueId value) {
  const auto source = editor.producer(value);
  const auto product = source ? match_binary_constant(editor, *source) : std::nullopt;
  if (!product || product->op->kind != BinaryKind::mul || editor.type(value).shape.size() != 4)
    return std::nullopt;
  const int64_t heads = editor.type(value).shape[1];
  const HostTensor& constant = *product->constant;
  const Shape& shape = constant.shape();
  const bool is_per_head = constant.elements() == heads && shape.size() >= 3 && *(shape.end() - 3) == heads;
  if (!is_per_head) return std::nullopt;
  return HeadFactors{editor.node(*source).inputs[product->data_slot], constant.reshaped({heads, 1, 1})};
}

// A softmax whose rows are zeros where they are NaN, because a mask excludes all keys. Attention's are zeros
// too. Returns the softmax's output, or `value` itself.
ValueId without_guard_of_empty_rows(const GraphEditor& editor, ValueId value) {
  const auto choice = match_producer<Where>(editor, value);
  if (!choice || !editor.only_reader(value)) return value;
  const ValueId weights = choice.input(2);
  const HostTensor* zero = editor.constant(choice.input(1));
  const bool is_zero = zero != nullptr && zero->elements() == 1 && zero->to_floats()[0] == 0.0f;
  if (!is_zero || editor.type(weights) != editor.type(value)) return value;
  const bool is_guard = match_unary(editor, choice.input(0), UnaryKind::is_nan) == weights &&
                        editor.only_reader(choice.input(0)) && !editor.is_graph_output(weights) &&
                        editor.readers(weights).size() == 2;
  return is_guard ? weights : value;
}

}  // namespace

std::optional<AttentionScores> match_scores(const GraphEditor& editor, ValueId value, const Shape& shape) {
  AttentionScores scores;
  bool is_scaled = false;
  for (;;) {
    if (!editor.only_reader(value)) return std::nullopt;
    if (const auto step = match_scalar(editor, value); step && step->kind == BinaryKind::mul) {
      scores.scale *= step->scalar;
      is_scaled = true;
      value = step->input;
    } else if (auto by_head = scores.head_factors ? std::nullopt : match_head_factors(editor, value)) {
      scores.head_factors = std::move(by_head->factors);
      is_scaled = true;
      value = by_head->input;
    } else if (const auto reshape = match_producer<ReshapeFamily>(editor, value)) {
      value = reshape.input();
    } else if (const auto rounding = match_rounding(editor, value)) {
      if (is_scaled || scores.rounding) return std::nullopt;
      scores.rounding = (*rounding)->activation;
      value = rounding->input();
    } else if (scores.rounding || scores.head_factors) {
      break;  // a mask would be rounded or scaled, too
    } else if (const auto unmasked = match_masked_scores(editor, value, static_cast<float>(scores.scale),
                                                         shape, scores.masks)) {
      value = *unmasked;
    } else {
      break;
    }
  }
  const auto product = match_producer<MatMul>(editor, value);
  if (!product || editor.type(value).shape != shape) return std::nullopt;
  scores.q = product.input(0);
  scores.k_transposed = product.input(1);
  return scores;
}

std::optional<MatchedSoftmax> match_softmax_of_rows(const GraphEditor& editor, ValueId value) {
  MatchedSoftmax matched;
  if (const auto reshape = match_producer<ReshapeFamily>(editor, value)) {
    const Shape &from = editor.type(reshape.input()).shape, &to = editor.type(value).shape;
    const bool keeps_rows =
        from.size() >= 2 && to.size() >= 2 && std::equal(from.end() - 2, from.end(), to.end() - 2);
    if (!keeps_rows || !editor.only_reader(value)) return std::nullopt;
    value = reshape.input();
  }
  if (const auto rounding = match_rounding(editor, value)) {
    if (!editor.only_reader(value)) return std::nullopt;
    matched.rounding = (*rounding)->activation;
    value = rounding->input();
  }
  const ValueId weights = without_guard_of_empty_rows(editor, value);
  const auto softmax = match_producer<Softmax>(editor, weights);
  if (!softmax || softmax->kind != SoftmaxKind::softmax) return std::nullopt;
  if (weights == value && !editor.only_reader(value)) return std::nullopt;
  const Shape& shape = editor.type(softmax.input()).shape;
  if (shape.empty() || softmax->extent(shape).length != shape.back() || softmax->extent(shape).inner != 1)
    return std::nullopt;
  matched.scores = softmax.input();
  return matched;
}

}  // namespace vellum
