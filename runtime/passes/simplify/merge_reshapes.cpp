#include <algorithm>
#include <memory>
#include <vector>

#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Makes the node a Reshape of `input` to the shape of its output.
void make_reshape(GraphEditor& editor, size_t index, ValueId input) {
  editor.replace(index, reshape_to(editor.type(editor.node(index).outputs[0]).shape), {input});
}

// Whether the transposition keeps the order of all dimensions larger than 1, and so of the elements in
// memory.
bool keeps_memory_order(const Transpose& transpose, const Shape& input) {
  std::vector<size_t> moved;
  for (const size_t axis : transpose.permutation(input.size())) {
    if (input[axis] != 1) moved.push_back(axis);
  }
  return std::is_sorted(moved.begin(), moved.end());
}

void merge_transposes(GraphEditor& editor, const Match<Transpose>& outer, const Match<Transpose>& inner) {
  const size_t rank = editor.type(inner.input()).shape.size();
  const auto first = inner->permutation(rank), second = outer->permutation(rank);
  Ints perm;
  for (const size_t axis : second) perm.push_back(static_cast<int64_t>(first[axis]));
  auto merged = std::make_shared<Transpose>();
  merged->perm = std::move(perm);
  editor.replace(outer.index, std::move(merged), {inner.input()});
}

void merge_into(GraphEditor& editor, size_t index) {
  if (editor.node(index).inputs.empty() || editor.node(index).outputs.size() != 1) return;
  if (const auto outer = match_node<Transpose>(editor, index))
    if (const auto inner = match_producer<Transpose>(editor, outer.input()))
      merge_transposes(editor, outer, inner);
  const ValueId source = editor.node(index).inputs[0];
  const auto transpose = match_node<Transpose>(editor, index);
  if (transpose && keeps_memory_order(*transpose.op, editor.type(source).shape))
    make_reshape(editor, index, source);
  if (!match_node<ReshapeFamily>(editor, index)) return;
  if (const auto inner = match_producer<ReshapeFamily>(editor, source))
    make_reshape(editor, index, inner.input());
}

}  // namespace

void merge_reshapes(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) merge_into(editor, index);
  editor.commit();
}

}  // namespace vellum
