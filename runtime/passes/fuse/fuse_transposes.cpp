#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Whether the node exchanges the last two dimensions and does nothing else.
bool transposes_matrices(const GraphEditor& editor, size_t index) {
  const auto transpose = match_node<Transpose>(editor, index);
  if (!transpose) return false;
  const size_t rank = editor.type(transpose.input()).shape.size();
  if (rank < 2) return false;
  std::vector<size_t> exchanged(rank);
  std::iota(exchanged.begin(), exchanged.end(), size_t{0});
  std::swap(exchanged[rank - 1], exchanged[rank - 2]);
  return transpose->permutation(rank) == exchanged;
}

// Whether the node is a product of two computed matrices. Kernels for a constant matrix read it row by row.
bool multiplies_computed_matrices(const GraphEditor& editor, size_t index) {
  const auto product = match_node<MatMul>(editor, index);
  if (!product) return false;
  for (const ValueId input : product.node->inputs)
    if (editor.constant(input) != nullptr || editor.type(input).shape.size() < 2) return false;
  return is_float_value(editor, product.node->outputs[0]);
}

void fuse_operands(GraphEditor& editor, size_t index) {
  auto op = std::make_shared<MatMul>(*match_node<MatMul>(editor, index).op);
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

// The transpose of A B is the transpose of B times the transpose of A.
void fuse_result(GraphEditor& editor, size_t index) {
  const auto reader = editor.only_reader(editor.node(index).outputs[0]);
  if (!reader || !transposes_matrices(editor, *reader)) return;
  const ValueId output = editor.node(*reader).outputs[0];
  const auto product = match_node<MatMul>(editor, index);
  auto op = std::make_shared<MatMul>();
  op->transpose_a = !product->transpose_b;
  op->transpose_b = !product->transpose_a;
  op->alpha = product->alpha;
  editor.remove(*reader);
  editor.replace(index, std::move(op), {product.input(1), product.input(0)});
  editor.set_outputs(index, {output});
}

}  // namespace

void fuse_transposes(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    if (!multiplies_computed_matrices(editor, index)) continue;
    fuse_operands(editor, index);
    fuse_result(editor, index);
  }
  editor.commit();
}

}  // namespace vellum
