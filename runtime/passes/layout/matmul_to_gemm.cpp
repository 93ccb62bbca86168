#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/matmul/matmul.hpp"
#include "passes/layout/row_products.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"

namespace vellum {
namespace {

// The rows of each value as a matrix, which its products share: so does a conversion of its layout.
using RowsOfValues = std::map<ValueId, ValueId>;

// The Gemm replaces the last node of the product.
void replace_by_gemm(GraphEditor& editor, const RowProduct& product, RowsOfValues& rows_of) {
  const Node matmul = editor.node(product.matmul), last = editor.node(product.last);
  const TensorType x = editor.type(matmul.inputs[0]), y = editor.type(last.outputs[0]);
  const bool is_matrix = x.shape.size() == 2;
  const int64_t rows = element_count(x.shape) / x.shape.back();
  ValueId input = matmul.inputs[0];
  if (!is_matrix) {
    const auto [entry, is_new] = rows_of.try_emplace(input, kNoValue);
    const Shape shape{rows, x.shape.back()};
    if (is_new)
      entry->second = editor.compute_before(product.last, matmul.name + "/rows", reshape_to(shape), {input},
                                            {x.dtype, shape});
    input = entry->second;
  }
  std::vector<ValueId> inputs{input, matmul.inputs[1]};
  if (product.bias) inputs.push_back(editor.add_constant(matmul.name + "/bias", *product.bias));
  auto gemm = std::make_shared<Gemm>();
  gemm->activation = product.activation;
  for (const size_t index : {product.matmul, product.sum.value_or(product.matmul)})
    if (index != product.last && !editor.removed(index)) editor.remove(index);
  if (is_matrix) {
    editor.replace(product.last, {matmul.name, std::move(gemm), std::move(inputs), last.outputs});
    return;
  }
  const ValueId result = editor.compute_before(product.last, matmul.name, std::move(gemm), std::move(inputs),
                                               {y.dtype, {rows, y.shape.back()}});
  editor.replace(product.last, {last.name + "/shape", reshape_to(y.shape), {result}, last.outputs});
}

}  // namespace

void matmul_to_gemm(Graph& graph) {
  GraphEditor editor(graph);
  std::map<size_t, RowProduct> products;  // by the last node: in the order in which the results are computed
  for (const size_t index : editor.nodes()) {
    if (!multiplies_rows(editor, index)) continue;
    const RowProduct product = match_row_product(editor, index);
    products.emplace(product.last, product);
  }
  RowsOfValues rows_of;
  for (const auto& [last, product] : products) replace_by_gemm(editor, product, rows_of);
  editor.commit();
}

}  // namespace vellum
