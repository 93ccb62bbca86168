#include <algorithm>
#include <memory>
#include <vector>

#include "graph/operators/reshape.hpp"
#include "graph/operators/transpose.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/pattern.hpp"

namespace vellum {
namespace {

// Makes `index` a Reshape of `input` to the shape its output has.
void make_reshape(GraphEditor& editor, size_t index, ValueId input) {
  editor.set_operator(index, reshape_to(editor.type(editor.node(index).outputs[0]).shape));
  editor.set_inputs(index, {input});
}

// A transposition that keeps the order of all dimensions larger than 1 leaves every element where it is in
// memory.
bool keeps_memory_order(const Transpose& transpose, const Shape& input) {
  std::vector<size_t> moved;
  for (const size_t axis : transpose.permutation(input.size())) {
    if (input[axis] != 1) moved.push_back(axis);
  }
  return std::is_sorted(moved.begin(), moved.end());
}

void merge_transposes(GraphEditor& editor, size_t index, const Transpose& outer, const Transpose& inner) {
  const ValueId middle = editor.node(index).inputs[0];
  const ValueId input = editor.node(*editor.producer(middle)).inputs[0];
  const size_t rank = editor.type(input).shape.size();
  const auto first = inner.permutation(rank), second = outer.permutation(rank);
  Ints perm;
  for (const size_t axis : second) perm.push_back(static_cast<int64_t>(first[axis]));
  auto merged = std::make_shared<Transpose>();
  merged->perm = std::move(perm);
  editor.set_operator(index, std::move(merged));
  editor.set_inputs(index, {input});
}

void simplify(GraphEditor& editor, size_t index) {
  if (editor.node(index).inputs.empty() || editor.node(index).outputs.size() != 1) return;
  const ValueId input = editor.node(index).inputs[0];
  if (const auto* outer = dynamic_cast<const Transpose*>(editor.node(index).op.get())) {
    if (const auto* inner = producer_as<Transpose>(editor, input))
      merge_transposes(editor, index, *outer, *inner);
  }
  const auto* transpose = dynamic_cast<const Transpose*>(editor.node(index).op.get());
  const ValueId source = editor.node(index).inputs[0];
  if (transpose != nullptr && keeps_memory_order(*transpose, editor.type(source).shape)) {
    make_reshape(editor, index, source);
  }
  if (dynamic_cast<const ReshapeFamily*>(editor.node(index).op.get()) == nullptr) return;
  if (producer_as<ReshapeFamily>(editor, source) != nullptr) {
    make_reshape(editor, index, editor.node(*editor.producer(source)).inputs[0]);
  }
}

}  // namespace

void merge_reshapes(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i) simplify(editor, i);
  editor.commit();
}

}  // namespace vellum
