#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/matmul/fixed_matmul.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/matmul/recurrence.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
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
  if (!match_node<MatMul>(editor, index) && !match_node<FixedMatMul>(editor, index)) return false;
  const Node& node = editor.node(index);
  for (const ValueId input : node.inputs)
    if (editor.constant(input) != nullptr || editor.type(input).shape.size() < 2) return false;
  return is_float_value(editor, node.outputs[0]);
}

MatMul& product_of(MatMul& op) { return op; }
MatMul& product_of(FixedMatMul& op) { return op.product; }

template <typename Op>
void fuse_operands(GraphEditor& editor, size_t index) {
  auto op = std::make_shared<Op>(*match_node<Op>(editor, index).op);
  for (const size_t slot : {size_t{0}, size_t{1}}) {
    std::vector<ValueId> inputs = editor.node(index).inputs;
    const auto source = editor.producer(inputs[slot]);
    if (!source || editor.only_reader(inputs[slot]) != index || !transposes_matrices(editor, *source))
      continue;
    inputs[slot] = editor.node(*source).inputs[0];
    bool& transposed = slot == 0 ? product_of(*op).transpose_a : product_of(*op).transpose_b;
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

// Y has shape `y`; Reshapes gave it shape `joined`, in which its last two dimensions may be one and others of
// size 1 are missing or added; a Transpose exchanges dimensions of that. Returns the order of the dimensions
// of Y in which a Reshape alone gives the result of the Transpose; nothing if H does not stay last or others
// are joined.
std::optional<std::vector<size_t>> order_of_y(const Shape& y, const Shape& joined,
                                              const std::vector<size_t>& permutation) {
  std::vector<size_t> wide, of_joined, order;
  for (size_t i = 0; i + 1 < y.size(); ++i) (y[i] == 1 ? order : wide).push_back(i);
  for (size_t k = 0; k + 1 < joined.size(); ++k)
    if (joined[k] != 1) of_joined.push_back(k);
  const bool joins = of_joined.size() + 1 == wide.size();
  if (permutation.back() + 1 != joined.size()) return std::nullopt;
  if (!joins && of_joined.size() != wide.size()) return std::nullopt;
  if (joined.back() != (joins ? y[wide.back()] : 1) * y.back()) return std::nullopt;
  for (size_t n = 0; n < of_joined.size(); ++n)
    if (joined[of_joined[n]] != y[wide[n]]) return std::nullopt;
  for (const size_t k : permutation)
    if (const auto found = std::ranges::find(of_joined, k); found != of_joined.end())
      order.push_back(wide[static_cast<size_t>(found - of_joined.begin())]);
  if (joins) order.push_back(wide.back());
  order.push_back(y.size() - 1);
  return order;
}

// Moves a Transpose of Y, with Reshapes between or without, into the order of Y. Layers of torch
// end in one to TxBxDxH, and then in one to BxTx(DH) if batches go first.
bool fuse_order(GraphEditor& editor, size_t index) {
  const ValueId y = editor.node(index).outputs[0];
  std::vector<size_t> reshapes;
  std::optional<size_t> reader = editor.only_reader(y);
  for (; reader && match_node<Reshape>(editor, *reader);
       reader = editor.only_reader(editor.node(*reader).outputs[0]))
    reshapes.push_back(*reader);
  if (!reader) return false;
  const auto transpose = match_node<Transpose>(editor, *reader);
  if (!transpose) return false;
  const Shape before = editor.type(y).shape, joined = editor.type(transpose.input()).shape;
  if (before.size() != 4 || joined.empty()) return false;
  const auto order = order_of_y(before, joined, transpose->permutation(joined.size()));
  if (!order) return false;

  auto op = std::make_shared<Recurrence>(*match_node<Recurrence>(editor, index).op);
  Shape shape;
  for (size_t i = 0; i < order->size(); ++i) shape.push_back(before[(*order)[i]]);
  const std::array<size_t, 4> plain = op->y_order;
  for (size_t i = 0; i < order->size(); ++i) op->y_order[i] = plain[(*order)[i]];
  std::vector<ValueId> outputs = editor.node(index).outputs;
  const ValueId result = transpose.node->outputs[0];
  const Shape of_result = editor.type(result).shape;
  editor.remove(*reader);
  for (const size_t reshape : reshapes) editor.remove(reshape);
  if (shape == of_result) {
    outputs[0] = result;
  } else {
    outputs[0] = editor.add_value(editor.node(index).name + "/reordered", {editor.type(y).dtype, shape});
    editor.insert_after(index, {.name = editor.node(index).name + "/joined",
                                .op = reshape_to(of_result),
                                .inputs = {outputs[0]},
                                .outputs = {result}});
  }
  editor.set_operator(index, std::move(op));
  editor.set_outputs(index, std::move(outputs));
  return true;
}

}  // namespace

void fuse_transposes(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    if (match_node<Recurrence>(editor, index)) {
      while (fuse_order(editor, index)) {
      }
      continue;
    }
    if (!multiplies_computed_matrices(editor, index)) continue;
    if (match_node<FixedMatMul>(editor, index)) {
      fuse_operands<FixedMatMul>(editor, index);
      continue;
    }
    fuse_operands<MatMul>(editor, index);
    fuse_result(editor, index);
  }
  editor.commit();
}

}  // namespace vellum
