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

Shape without_leading_ones(const Shape& shape) {
  return {std::find_if(shape.begin(), shape.end(), [](int64_t dim) { return dim != 1; }), shape.end()};
}

namespace {

// Swin adds a mask to the scores while the windows have a dimension of their own, apart from the batch.
// Returns a constant that is added to scores of shape `seen` as one that is added to scores of shape
// `scores`.
std::optional<HostTensor> mask_in_shape(const HostTensor& constant, const Shape& seen, const Shape& scores) {
  if (constant.shape().size() > seen.size()) return std::nullopt;
  if (without_leading_ones(seen) == without_leading_ones(scores)) {
    const Shape& own = constant.shape();
    const auto missing = std::max(std::ssize(own) - std::ssize(scores), std::ptrdiff_t{0});
    return constant.reshaped({own.begin() + missing, own.end()});
  }
  Shape padded(seen.size() - constant.shape().size(), 1);
  padded.insert(padded.end(), constant.shape().begin(), constant.shape().end());
  // The last dimensions that both shapes share may stay as the mask has them; those before are split
  // differently.
  if (scores.size() < 2 || seen.size() < 2) return std::nullopt;
  std::ptrdiff_t shared = 0;
  while (shared < 3 && shared < std::ssize(scores) && shared < std::ssize(seen) &&
         *(scores.end() - 1 - shared) == *(seen.end() - 1 - shared))
    ++shared;
  if (shared < 2) return std::nullopt;
  Shape whole = seen, result = scores;
  std::copy(padded.end() - shared, padded.end(), whole.end() - shared);
  std::copy(padded.end() - shared, padded.end(), result.end() - shared);
  const HostTensor expanded = gather_strided(constant, whole, broadcast_strides(constant.shape(), whole), 0);
  return gather_strided(expanded, result, row_major_strides(result), 0);
}

// The operand of an Add that has the type of the sum; the computed one where both have.
std::optional<size_t> scores_slot(const GraphEditor& editor, const std::array<ValueId, 2>& operands,
                                  const TensorType& type) {
  if (editor.type(operands[0]) == type && editor.constant(operands[0]) == nullptr) return size_t{0};
  return editor.type(operands[1]) == type ? std::optional(size_t{1}) : std::nullopt;
}

// Adds `mask` to the scores, which have the shape `seen` where it is added and `shape` at the softmax.
bool read_mask(const GraphEditor& editor, ValueId mask, const Shape& seen, const Shape& shape,
               AttentionScores& scores) {
  if (const HostTensor* constant = editor.constant(mask)) {
    auto added = mask_in_shape(*constant, seen, shape);
    if (added) scores.constant_masks.push_back(std::move(*added));
    return added.has_value();
  }
  if (scores.computed_mask || without_leading_ones(seen) != without_leading_ones(shape)) return false;
  scores.computed_mask = mask;
  return true;
}

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
    } else if (const auto sum = match_binary(editor, value, BinaryKind::add)) {
      if (is_scaled || scores.rounding) return std::nullopt;  // the mask would be scaled or rounded too
      const auto slot = scores_slot(editor, *sum, editor.type(value));
      if (!slot || !read_mask(editor, (*sum)[1 - *slot], editor.type(value).shape, shape, scores))
        return std::nullopt;
      value = (*sum)[*slot];
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
