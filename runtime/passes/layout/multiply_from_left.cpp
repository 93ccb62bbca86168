#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "passes/layout/row_products.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Returns whether the node transposes one matrix: it exchanges the last two dimensions, and all others are 1.
bool transposes_one_matrix(const GraphEditor& editor, size_t index) {
  const auto transpose = match_node<Transpose>(editor, index);
  if (!transpose) return false;
  const Shape& shape = editor.type(transpose.input()).shape;
  if (shape.size() < 2 || std::any_of(shape.begin(), shape.end() - 2, [](int64_t size) { return size != 1; }))
    return false;
  std::vector<size_t> exchanged(shape.size());
  std::iota(exchanged.begin(), exchanged.end(), size_t{0});
  std::swap(exchanged[shape.size() - 1], exchanged[shape.size() - 2]);
  return transpose->permutation(shape.size()) == exchanged;
}

// Products between two transpositions.
struct TransposedProducts {
  size_t first = 0, last = 0;  // the transpositions
  std::vector<RowProduct> products;
};

std::optional<TransposedProducts> match_products(const GraphEditor& editor, size_t index) {
  if (!transposes_one_matrix(editor, index)) return std::nullopt;
  TransposedProducts found{.first = index};
  ValueId value = editor.node(index).outputs[0];
  if (editor.constant(editor.node(index).inputs[0]) || !is_float_value(editor, value)) return std::nullopt;
  std::optional<size_t> reader = editor.only_reader(value);
  for (; reader && multiplies_rows(editor, *reader); reader = editor.only_reader(value)) {
    found.products.push_back(match_row_product(editor, *reader));
    value = editor.node(found.products.back().last).outputs[0];
  }
  if (found.products.empty() || !reader || !transposes_one_matrix(editor, *reader)) return std::nullopt;
  found.last = *reader;
  return found;
}

// (X' W + b)' = W' X + b' for each product, where b' is a column.
void multiply_matrices(GraphEditor& editor, const TransposedProducts& match) {
  const std::string name = editor.node(match.first).name;
  const Node last = editor.node(match.last);
  const TensorType y = editor.type(last.outputs[0]);
  ValueId value = editor.node(match.first).inputs[0];
  const Shape shape = editor.type(value).shape;
  const int64_t columns = shape.back();
  if (shape.size() > 2)
    value =
        editor.compute_before(match.last, name + "/matrix", reshape_to({shape[shape.size() - 2], columns}),
                              {value}, {y.dtype, {shape[shape.size() - 2], columns}});
  for (const RowProduct& product : match.products) {
    const Node matmul = editor.node(product.matmul);
    const int64_t rows = editor.type(matmul.inputs[1]).shape[1];
    std::vector<ValueId> inputs{matmul.inputs[1], value};
    if (product.bias)
      inputs.push_back(editor.add_constant(matmul.name + "/column", product.bias->reshaped({rows, 1})));
    auto gemm = std::make_shared<Gemm>();
    gemm->transpose_a = true;
    gemm->activation = product.activation;
    value = editor.compute_before(match.last, matmul.name + "/left", std::move(gemm), std::move(inputs),
                                  {y.dtype, {rows, columns}});
  }
  editor.replace(match.last, {last.name, reshape_to(y.shape), {value}, last.outputs});
  for (auto product = match.products.rbegin(); product != match.products.rend(); ++product)
    for (const size_t index : {product->last, product->sum.value_or(product->last), product->matmul})
      if (!editor.removed(index)) editor.remove(index);
  editor.remove(match.first);
}

}  // namespace

void multiply_from_left(Graph& graph) {
  // Kernels that multiply from the left have no weights of integers.
  if (graph.has_integer_weights) return;
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes())
    if (const auto match = match_products(editor, index)) multiply_matrices(editor, *match);
  editor.commit();
}

}  // namespace vellum
