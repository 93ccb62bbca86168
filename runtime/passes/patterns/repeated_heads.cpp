#include "passes/patterns/repeated_heads.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "graph/operators/movement/reshape.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {

std::optional<ViewedValue> without_repeated_heads(const GraphEditor& editor, const ViewedValue& viewed) {
  const auto expand = match_producer<Expand>(editor, viewed.source);
  if (!expand || viewed.view.offset != 0) return std::nullopt;
  const Shape &from = editor.type(expand.input()).shape, &to = editor.type(viewed.source).shape;
  if (from.size() != to.size()) return std::nullopt;
  size_t repeated = 0;
  while (repeated < to.size() && from[repeated] == to[repeated]) ++repeated;
  if (repeated == 0 || repeated == to.size() || from[repeated] != 1) return std::nullopt;
  for (size_t axis = repeated + 1; axis < to.size(); ++axis)
    if (from[axis] != to[axis]) return std::nullopt;
  const int64_t repeats = to[repeated], inner = product(to, repeated + 1, to.size()),
                heads = to[repeated - 1];
  ViewedValue result = viewed;
  StridedView& view = result.view;
  if (view.shape[1] != heads * repeats || view.strides[1] != inner) return std::nullopt;
  view.shape[1] = heads;
  for (const size_t axis : {0, 2, 3}) {
    int64_t& stride = view.strides[axis];
    if (view.shape[axis] == 1 || stride < inner) continue;
    if (stride % (inner * heads * repeats) != 0) return std::nullopt;
    stride /= repeats;
  }
  result.source = expand.input();
  while (const auto reshape = match_producer<ReshapeFamily>(editor, result.source))
    result.source = reshape.input();
  return result;
}

void share_repeated_heads(GraphEditor& editor, size_t index) {
  const auto attention = match_node<Attention>(editor, index);
  if (!attention || attention->views || attention->has_word_caches()) return;
  std::vector<ValueId> inputs = editor.node(index).inputs;
  std::vector<OperatorInput> types;
  for (const ValueId id : inputs)
    types.push_back(id == kNoValue ? OperatorInput{}
                                   : OperatorInput{true, editor.type(id), editor.constant(id)});
  const Attention::Operands operands = attention->operands(types);
  auto op = std::make_shared<Attention>(*attention.op);
  op->views = {operands.q, operands.k, operands.v};
  for (const size_t i : {1, 2}) {
    if (editor.type(inputs[i]).shape.size() != 4) return;
    const auto heads = without_repeated_heads(editor, view_of(editor, inputs[i]));
    if (!heads || editor.constant(heads->source) != nullptr) return;
    (*op->views)[i] = heads->view;
    inputs[i] = heads->source;
  }
  const StridedView &k = (*op->views)[1], &v = (*op->views)[2];
  if (k.shape[1] != v.shape[1] || k.shape[3] > Attention::kMostChannels ||
      v.shape[3] > Attention::kMostChannels)
    return;
  op->tokens_first = operands.tokens_first;
  op->output = operands.output;
  op->scale = operands.scale;
  editor.replace(index, std::move(op), std::move(inputs));
}

}  // namespace vellum
