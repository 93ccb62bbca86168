#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/matmul/attention.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "passes/passes.hpp"
#include "passes/patterns/attention_scores.hpp"
#include "passes/patterns/repeated_heads.hpp"
#include "passes/patterns/rounded_moves.hpp"
#include "passes/patterns/strided_view.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// A matrix for each (batch, head): a value of three dimensions has one image or one head for each matrix.
std::optional<ViewedValue> as_heads(const GraphEditor& editor, ValueId value, Scalings scalings) {
  ViewedValue viewed = view_of(editor, value, scalings);
  StridedView& view = viewed.view;
  if (view.shape.size() < 2 || view.shape.size() > 4 || editor.constant(viewed.source) != nullptr)
    return std::nullopt;
  const size_t missing = 4 - view.shape.size();
  view.shape.insert(view.shape.begin(), missing, 1);
  view.strides.insert(view.strides.begin(), missing, 0);
  return viewed;
}

// The axes that have more than one index, in the order of `axes`.
std::vector<size_t> without_ones(const std::vector<size_t>& axes, const Shape& shape) {
  std::vector<size_t> result;
  std::copy_if(axes.begin(), axes.end(), std::back_inserter(result),
               [&](size_t axis) { return shape[axis] != 1; });
  return result;
}

// Whether the node swaps the third and the second dimension from the end. Dimensions of 1 may be anywhere:
// torch's MultiheadAttention of one image puts its batch between tokens and heads.
bool swaps_heads_and_tokens(const GraphEditor& editor, size_t index) {
  const auto transpose = match_node<Transpose>(editor, index);
  if (!transpose) return false;
  const Shape& shape = editor.type(transpose.input()).shape;
  const size_t rank = shape.size();
  if (rank < 3) return false;
  std::vector<size_t> swapped(rank);
  std::iota(swapped.begin(), swapped.end(), size_t{0});
  std::swap(swapped[rank - 3], swapped[rank - 2]);
  return without_ones(transpose->permutation(rank), shape) == without_ones(swapped, shape);
}

// The nodes after the product of weights and values that become part of Attention.
struct MergedHeads {
  Activation rounding;        // of the product; none where it is not rounded
  std::vector<size_t> nodes;  // those of the rounding, and those that put tokens before heads
};

// The nodes that put tokens before heads after product `index`: the Transpose, and a Reshape before it that
// adds dimensions of 1 in front. A rounding of the product before them may as well follow them. Empty where
// they are others.
MergedHeads match_merged_heads(const GraphEditor& editor, size_t index) {
  MergedHeads merged;
  auto reader = editor.only_reader(editor.node(index).outputs[0]);
  const auto to_next = [&] {
    merged.nodes.push_back(*reader);
    reader = editor.only_reader(editor.node(*reader).outputs[0]);
  };
  if (const auto rounding = reader ? match_rounding(editor, editor.node(*reader).outputs[0]) : std::nullopt) {
    merged.rounding = (*rounding)->activation;
    to_next();
  }
  if (reader && match_node<ReshapeFamily>(editor, *reader)) {
    const Node& reshape = editor.node(*reader);
    const Shape &from = editor.type(reshape.inputs[0]).shape, &to = editor.type(reshape.outputs[0]).shape;
    if (to.size() < from.size() || without_leading_ones(from) != without_leading_ones(to)) return {};
    to_next();
  }
  if (!reader || !swaps_heads_and_tokens(editor, *reader)) return {};
  merged.nodes.push_back(*reader);
  return merged;
}

void transpose_matrices(StridedView& view) {
  std::swap(view.shape[2], view.shape[3]);
  std::swap(view.strides[2], view.strides[3]);
}

// The order of a head's values: a matrix of (token, channel) or of (channel, token).
enum class ValueOrder : uint8_t { tokens_first, channels_first };

// An operand of the product of queries and keys: the elements of `value`, rounded.
struct ProductOperand {
  ValueId value = kNoValue;
  OperandRounding rounding;

  // The kernel multiplies the scores by factors that the view passes, which is after the rounding.
  Scalings scalings() const { return rounding ? Scalings::end : Scalings::passed; }
};

// Leaves the rounding of `value` to attention, if attention rounds weights and gathers the value anyway.
ProductOperand product_operand(const GraphEditor& editor, ValueId value, bool rounds_weights) {
  const auto rounded = rounds_weights ? match_rounded_operand(editor, value) : std::nullopt;
  return rounded ? ProductOperand{rounded->moved, rounded->rounding} : ProductOperand{value, {}};
}

// The views of Q, K and V as matrices of each head; nothing where the kernel cannot read them.
std::optional<std::array<ViewedValue, 3>> match_heads(const GraphEditor& editor,
                                                      const ProductOperand& queries,
                                                      const ProductOperand& keys, ValueId values,
                                                      ValueOrder order, DType dtype) {
  const auto q = as_heads(editor, queries.value, queries.scalings());
  auto k = as_heads(editor, keys.value, keys.scalings());
  auto v = as_heads(editor, values, Scalings::end);
  if (!q || !k || !v) return std::nullopt;
  auto own_k = without_repeated_heads(editor, *k), own_v = without_repeated_heads(editor, *v);
  if (own_k && own_v && own_k->view.shape[1] == own_v->view.shape[1]) k = own_k, v = own_v;
  transpose_matrices(k->view);
  if (order == ValueOrder::channels_first) transpose_matrices(v->view);
  const Shape &qs = q->view.shape, &ks = k->view.shape, &vs = v->view.shape;
  const bool broadcasts = qs[0] != ks[0] || qs[1] % ks[1] != 0 || ks[0] != vs[0] || ks[1] != vs[1];
  if (broadcasts || qs[3] > Attention::kMostChannels || vs[3] > Attention::kMostChannels) return std::nullopt;
  const std::array heads{*q, *k, *v};
  for (const ViewedValue& viewed : heads)
    if (editor.type(viewed.source).dtype != dtype) return std::nullopt;
  return heads;
}

// (batch, head, query, key)
Shape scores_of(const std::array<ViewedValue, 3>& heads) {
  const Shape &q = heads[0].view.shape, &k = heads[1].view.shape;
  return {q[0], q[1], q[2], k[2]};
}

// Multiplies Q by the factors of the heads, which costs less than the scores would.
void scale_heads(GraphEditor& editor, size_t index, AttentionScores& scores) {
  const std::string name = editor.node(index).name + "/heads";
  const ValueId factors = editor.add_constant(name, *scores.head_factors);
  const TensorType type = editor.type(scores.q);
  scores.q = editor.compute_before(index, name, binary_of(BinaryKind::mul), {scores.q, factors}, type);
}

struct MatchedAttention {
  std::shared_ptr<Attention> op;  // but for the form of its output
  std::vector<ValueId> inputs;
};

// The attention whose scores the softmax that computes `probabilities` has, before node `index`.
std::optional<MatchedAttention> match_attention(GraphEditor& editor, size_t index, ValueId probabilities,
                                                ValueId values, ValueOrder order) {
  const auto softmax = match_softmax_of_rows(editor, probabilities);
  const Shape shape = editor.type(probabilities).shape;
  auto scores = softmax ? match_scores(editor, softmax->scores, shape) : std::nullopt;
  if (!scores || element_count(shape) == 0) return std::nullopt;
  const bool rounds = softmax->rounding.is_rounded(), many_keys = shape.back() > Attention::kMostRoundedKeys;
  if (rounds ? many_keys : scores->rounding.is_rounded()) return std::nullopt;
  if (rounds) {
    round_before_moves(editor, scores->q);
    round_before_moves(editor, scores->k_transposed);
    scores = match_scores(editor, softmax->scores, shape);
    if (!scores) return std::nullopt;
  }
  if (scores->head_factors) scale_heads(editor, index, *scores);
  const DType dtype = editor.type(editor.node(index).outputs[0]).dtype;
  const ProductOperand q = product_operand(editor, scores->q, rounds),
                       k = product_operand(editor, scores->k_transposed, rounds);
  const auto heads = match_heads(editor, q, k, values, order, dtype);
  const double scale = heads ? scores->scale * (*heads)[0].scale * (*heads)[1].scale : 0.0;
  if (!heads || !std::isfinite(scale)) return std::nullopt;
  const ValueId key_bias =
      rounds ? kNoValue : take_key_bias(editor, index, scores->masks, dtype, scores_of(*heads));
  const auto mask = add_masks(editor, index, scores->masks, dtype);
  if (!mask) return std::nullopt;
  MatchedAttention found{std::make_shared<Attention>(),
                         {(*heads)[0].source, (*heads)[1].source, (*heads)[2].source}};
  found.op->scale = static_cast<float>(scale);
  found.op->score_rounding = scores->rounding;
  found.op->weight_rounding = softmax->rounding;
  found.op->q_rounding = q.rounding;
  found.op->k_rounding = k.rounding;
  found.op->views = {(*heads)[0].view, (*heads)[1].view, (*heads)[2].view};
  if (*mask != kNoValue) found.inputs.push_back(*mask);
  if (key_bias != kNoValue) found.inputs.insert(found.inputs.end(), {kNoValue, kNoValue, key_bias});
  return found;
}

// Node `index` is a product, maybe softmax(...) V.
bool replace_by_attention(GraphEditor& editor, size_t index) {
  const Node node = editor.node(index);
  auto found = match_attention(editor, index, node.inputs[0], node.inputs[1], ValueOrder::tokens_first);
  if (!found) return false;
  const MergedHeads merged = match_merged_heads(editor, index);
  std::vector<size_t> replaced{index};
  replaced.insert(replaced.end(), merged.nodes.begin(), merged.nodes.end());
  const size_t last = replaced.back();
  const TensorType type = editor.type(editor.node(last).outputs[0]);
  found->op->tokens_first = !merged.nodes.empty();
  found->op->output = type.shape;
  replaced.pop_back();
  for (const size_t node_before : replaced) editor.remove(node_before);
  if (!merged.rounding) {
    editor.replace(last, std::move(found->op), std::move(found->inputs));
    return true;
  }
  const ValueId y =
      editor.compute_before(last, node.name, std::move(found->op), std::move(found->inputs), type);
  auto rounding = std::make_shared<Unary>();
  rounding->activation = merged.rounding;
  editor.replace(last, std::move(rounding), {y});
  return true;
}

// Node `index` is a product, maybe V softmax(...)^T, where channels come before tokens: attention over the
// pixels of pictures. Channels of all heads follow one another then.
void replace_by_attention_of_channels(GraphEditor& editor, size_t index) {
  const Node node = editor.node(index);
  const auto transpose = match_producer<Transpose>(editor, node.inputs[1]);
  if (!transpose || editor.only_reader(node.inputs[1]) != index) return;
  const size_t rank = editor.type(transpose.input()).shape.size();
  std::vector<size_t> swapped(rank);
  std::iota(swapped.begin(), swapped.end(), size_t{0});
  if (rank < 2) return;
  std::swap(swapped[rank - 2], swapped[rank - 1]);
  if (transpose->permutation(rank) != swapped) return;
  auto found = match_attention(editor, index, transpose.input(), node.inputs[0], ValueOrder::channels_first);
  if (!found) return;
  const TensorType type = editor.type(node.outputs[0]);
  const Shape &q = (*found->op->views)[0].shape, &v = (*found->op->views)[2].shape;
  const int64_t images = q[0], tokens = q[2], channels = q[1] * v[3];
  found->op->tokens_first = true;
  found->op->output = {images, tokens, channels};
  const ValueId rows = editor.compute_before(index, node.name, std::move(found->op), std::move(found->inputs),
                                             {type.dtype, {images, tokens, channels}});
  auto exchange = std::make_shared<Transpose>();
  exchange->perm = Ints{0, 2, 1};
  const ValueId columns = editor.compute_before(index, node.name + "/channels", std::move(exchange), {rows},
                                                {type.dtype, {images, channels, tokens}});
  editor.replace(index, reshape_to(type.shape), {columns});
}

}  // namespace

void fuse_attention(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    share_repeated_heads(editor, index);
    if (match_node<MatMul>(editor, index) && is_float_value(editor, editor.node(index).outputs[0]))
      if (!replace_by_attention(editor, index)) replace_by_attention_of_channels(editor, index);
  }
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum
