#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "graph/operators/matmul.hpp"
#include "graph/operators/transpose.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/pattern.hpp"

namespace vellum {
namespace {

// Whether the node exchanges the last two dimensions and does nothing else.
bool transposes_matrices(const GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  const auto* transpose = dynamic_cast<const Transpose*>(node.op.get());
  if (transpose == nullptr) return false;
  const size_t rank = editor.type(node.inputs[0]).shape.size();
  if (rank < 2) return false;
  std::vector<size_t> exchanged(rank);
  std::iota(exchanged.begin(), exchanged.end(), size_t{0});
  std::swap(exchanged[rank - 1], exchanged[rank - 2]);
  return transpose->permutation(rank) == exchanged;
}

// A product with constants has kernels of its own, which read rows.
bool is_of_computed_matrices(const GraphEditor& editor, size_t index) {
  if (editor.removed(index) || !editor.is(index, "MatMul")) return false;
  const Node& node = editor.node(index);
  for (const ValueId input : node.inputs)
    if (editor.constant(input) != nullptr || editor.type(input).shape.size() < 2) return false;
  return is_float_value(editor, node.outputs[0]);
}

void take_operands(GraphEditor& editor, size_t index) {
  auto op = std::make_shared<MatMul>(dynamic_cast<const MatMul&>(*editor.node(index).op));
  for (const size_t slot : {size_t{0}, size_t{1}}) {
    std::vector<ValueId> inputs = editor.node(index).inputs;
    const auto source = editor.producer(inputs[slot]);
    if (!source || editor.only_reader(inputs[slot]) != index || !transposes_matrices(editor, *source))
      continue;
    inputs[slot] = editor.node(*source).inputs[0];
    bool& transposed = slot == 0 ? op->transpose_a : op->transpose_b;
    transposed = !transposed;
    editor.remove(*source);
    editor.set_inputs(index, std::move(inputs));
  }
  editor.set_operator(index, std::move(op));
}

// (A B) transposed is B transposed times A transposed.
void take_result(GraphEditor& editor, size_t index) {
  const auto reader = editor.only_reader(editor.node(index).outputs[0]);
  if (!reader || !transposes_matrices(editor, *reader)) return;
  const ValueId output = editor.node(*reader).outputs[0];
  const auto& before = dynamic_cast<const MatMul&>(*editor.node(index).op);
  auto op = std::make_shared<MatMul>();
  op->transpose_a = !before.transpose_b;
  op->transpose_b = !before.transpose_a;
  const std::vector<ValueId> operands = editor.node(index).inputs;
  editor.remove(*reader);
  editor.set_operator(index, std::move(op));
  editor.set_inputs(index, {operands[1], operands[0]});
  editor.take_output(index, output);
}

}  // namespace

void fuse_transposes(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i) {
    if (!is_of_computed_matrices(editor, i)) continue;
    take_operands(editor, i);
    take_result(editor, i);
  }
  editor.commit();
}

}  // namespace vellum
