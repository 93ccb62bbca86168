#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "graph/operators/attention.hpp"
#include "graph/operators/matmul.hpp"
#include "graph/operators/reshape.hpp"
#include "graph/operators/softmax.hpp"
#include "graph/operators/transpose.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/pattern.hpp"
#include "passes/layout/strided_view.hpp"
#include "passes/fuse/transformers.hpp"

namespace vellum {
namespace {

// softmax(scale * Q K^T + mask), read backwards from the softmax.
struct Scores {
  ValueId q = kNoValue, k_transposed = kNoValue;
  double scale = 1.0;
  std::vector<ValueId> masks;  // of the scores' rank, or constants that broadcast to them
  std::vector<HostTensor> constants;
};

bool sole_reader(const GraphEditor& editor, ValueId value) { return editor.only_reader(value).has_value(); }

// A constant added to the scores while these have the shape `seen`, as one that is added to them in their own
// shape `scores`: swin sees its windows apart from the batch while it masks them.
std::optional<HostTensor> mask_in_shape(const HostTensor& constant, const Shape& seen, const Shape& scores) {
  if (constant.shape().size() > seen.size()) return std::nullopt;
  if (seen == scores) return constant;
  Shape padded(seen.size() - constant.shape().size(), 1);
  padded.insert(padded.end(), constant.shape().begin(), constant.shape().end());
  // Dimensions that both shapes end in may stay as the mask has them; those before are split up differently.
  if (scores.size() < 2 || seen.size() < 2) return std::nullopt;
  std::ptrdiff_t alike = 0;
  while (alike < 3 && alike < std::ssize(scores) && alike < std::ssize(seen) &&
         *(scores.end() - 1 - alike) == *(seen.end() - 1 - alike))
    ++alike;
  if (alike < 2) return std::nullopt;
  Shape whole = seen, result = scores;
  std::copy(padded.end() - alike, padded.end(), whole.end() - alike);
  std::copy(padded.end() - alike, padded.end(), result.end() - alike);
  const HostTensor expanded = gather_strided(constant, whole, broadcast_strides(constant.shape(), whole), 0);
  return gather_strided(expanded, result, row_major_strides(result), 0);
}

// What stands between the product and the softmax; false where that is something else.
bool read_scores(const GraphEditor& editor, ValueId value, Scores& scores) {
  const Shape shape = editor.type(value).shape;
  bool scaled = false;
  for (;;) {
    if (!sole_reader(editor, value)) return false;
    if (const auto step = undo_scalar(editor, value); step && step->kind == BinaryKind::mul) {
      scores.scale *= step->scalar;
      scaled = true;
      value = step->input;
    } else if (producer_as<ReshapeFamily>(editor, value) != nullptr) {
      value = editor.node(*editor.producer(value)).inputs[0];
    } else if (const auto sum = undo_binary(editor, value, BinaryKind::add)) {
      if (scaled) return false;  // the mask would be scaled too
      size_t slot = 0;
      while (slot < 2 && editor.type((*sum)[slot]) != editor.type(value)) ++slot;
      if (slot == 0 && producer_as<MatMul>(editor, (*sum)[0]) == nullptr &&
          editor.constant((*sum)[0]) != nullptr)
        slot = 1;
      if (slot == 2 || editor.type((*sum)[slot]) != editor.type(value)) return false;
      const ValueId mask = (*sum)[1 - slot];
      if (const HostTensor* constant = editor.constant(mask)) {
        auto added = mask_in_shape(*constant, editor.type(value).shape, shape);
        if (!added) return false;
        scores.constants.push_back(std::move(*added));
      } else if (editor.type(value).shape == shape && scores.masks.empty()) {
        scores.masks.push_back(mask);
      } else {
        return false;
      }
      value = (*sum)[slot];
    } else {
      break;
    }
  }
  if (producer_as<MatMul>(editor, value) == nullptr || editor.type(value).shape != shape) return false;
  const auto& inputs = editor.node(*editor.producer(value)).inputs;
  scores.q = inputs[0], scores.k_transposed = inputs[1];
  for (ValueId* side : {&scores.q, &scores.k_transposed}) {
    for (auto step = undo_scalar(editor, *side); step && step->kind == BinaryKind::mul;
         step = undo_scalar(editor, *side)) {
      scores.scale *= step->scalar;
      *side = step->input;
    }
  }
  return true;
}

// A matrix for each of (batch, head): a tensor of three dimensions has one image or one head each.
std::optional<ViewedValue> as_heads(const GraphEditor& editor, ValueId value) {
  ViewedValue viewed = view_of(editor, value);
  StridedView& view = viewed.view;
  if (view.shape.size() < 2 || view.shape.size() > 4 || editor.constant(viewed.source) != nullptr)
    return std::nullopt;
  const size_t missing = 4 - view.shape.size();
  view.shape.insert(view.shape.begin(), missing, 1);
  view.strides.insert(view.strides.begin(), missing, 0);
  return viewed;
}

// The sum of all masks as one value of four dimensions, which `index` is to read; kNoValue without any.
// Nothing where they do not add up.
std::optional<ValueId> add_mask(GraphEditor& editor, size_t index, const Scores& scores, DType dtype) {
  if (!scores.masks.empty()) {
    const Shape& shape = editor.type(scores.masks[0]).shape;
    if (!scores.constants.empty() || editor.type(scores.masks[0]).dtype != dtype) return std::nullopt;
    // (head, token, token) means the same under a batch of one before it.
    return shape.size() <= 4 ? std::optional(scores.masks[0]) : std::nullopt;
  }
  if (scores.constants.empty()) return kNoValue;
  HostTensor sum = scores.constants[0];
  Binary add;
  for (size_t i = 1; i < scores.constants.size(); ++i) {
    const HostTensor* operands[] = {&sum, &scores.constants[i]};
    sum = add.evaluate(operands).front();
  }
  return editor.add_constant(editor.node(index).name + "/mask", std::move(sum));
}

bool swaps_heads_and_tokens(const GraphEditor& editor, size_t index) {
  const auto* transpose = dynamic_cast<const Transpose*>(editor.node(index).op.get());
  if (transpose == nullptr) return false;
  const size_t rank = editor.type(editor.node(index).inputs[0]).shape.size();
  const auto permutation = transpose->permutation(rank);
  if (rank == 3) return permutation == std::vector<size_t>{1, 0, 2};
  return rank == 4 && permutation == std::vector<size_t>{0, 2, 1, 3};
}

// Node `index` is softmax(...) times V.
void match(GraphEditor& editor, size_t index) {
  const Node node = editor.node(index);
  const auto* softmax = producer_as<Softmax>(editor, node.inputs[0]);
  if (softmax == nullptr || softmax->kind != SoftmaxKind::softmax || !sole_reader(editor, node.inputs[0]))
    return;
  const ValueId before = editor.node(*editor.producer(node.inputs[0])).inputs[0];
  const Shape& shape = editor.type(before).shape;
  if (shape.empty() || softmax->extent(shape).length != shape.back() || softmax->extent(shape).inner != 1)
    return;

  Scores scores;
  if (!read_scores(editor, before, scores) || !std::isfinite(scores.scale)) return;
  const auto q = as_heads(editor, scores.q), v = as_heads(editor, node.inputs[1]);
  auto k = as_heads(editor, scores.k_transposed);
  if (!q || !k || !v) return;
  std::swap(k->view.shape[2], k->view.shape[3]);
  std::swap(k->view.strides[2], k->view.strides[3]);
  const Shape &qs = q->view.shape, &ks = k->view.shape, &vs = v->view.shape;
  const bool alike = qs[0] == ks[0] && qs[1] == ks[1] && ks[0] == vs[0] && ks[1] == vs[1];  // no broadcasting
  if (!alike || qs[3] > Attention::kMostChannels || vs[3] > Attention::kMostChannels ||
      element_count(shape) == 0)
    return;
  const DType dtype = editor.type(node.outputs[0]).dtype;
  if (editor.type(q->source).dtype != dtype || editor.type(k->source).dtype != dtype ||
      editor.type(v->source).dtype != dtype)
    return;
  const auto mask = add_mask(editor, index, scores, dtype);
  if (!mask) return;

  auto op = std::make_shared<Attention>();
  op->scale = static_cast<float>(scores.scale);
  op->views = {q->view, k->view, v->view};
  size_t last = index;
  if (const auto reader = editor.only_reader(node.outputs[0]);
      reader && swaps_heads_and_tokens(editor, *reader)) {
    last = *reader;
    op->tokens_first = true;
  }
  op->output = editor.type(editor.node(last).outputs[0]).shape;
  std::vector<ValueId> inputs{q->source, k->source, v->source};
  if (*mask != kNoValue) inputs.push_back(*mask);
  if (last != index) editor.remove(index);
  editor.set_operator(last, std::move(op));
  editor.set_inputs(last, std::move(inputs));
}

}  // namespace

void fuse_attention(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i)
    if (editor.is(i, "MatMul") && is_float_value(editor, editor.node(i).outputs[0])) match(editor, i);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum
