#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/matmul/matmul.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// A MatMul of rows with one constant matrix, and the nodes after it that can be part of a Gemm.
struct Product {
  size_t matmul = 0;
  std::optional<size_t> sum;       // adds the bias
  std::optional<HostTensor> bias;  // one element per column
  Activation activation;
  size_t last = 0;  // computes the result
};

bool has_constant_matrix(const GraphEditor& editor, size_t index) {
  const auto product = match_node<MatMul>(editor, index);
  if (!product) return false;
  const HostTensor* matrix = editor.constant_input(index, 1);
  const ValueId rows = product.input(0);
  return matrix != nullptr && matrix->shape().size() == 2 && matrix->elements() > 0 &&
         editor.constant(rows) == nullptr && is_float_value(editor, product.node->outputs[0]) &&
         editor.type(rows).shape.size() >= 2 && element_count(editor.type(rows).shape) > 0;
}

Product match_product(const GraphEditor& editor, size_t index) {
  Product product;
  product.matmul = product.last = index;
  ValueId result = editor.node(index).outputs[0];
  const int64_t columns = editor.type(result).shape.back();
  if (const auto sum = match_constant_reader(editor, result, BinaryKind::add)) {
    product.bias = expand_to_last_dimensions(*sum->constant, {columns});
    if (product.bias) {
      product.sum = product.last = sum->index;
      result = sum->output;
    }
  }
  const auto reader = editor.only_reader(result);
  if (!reader) return product;
  const ValueId output = editor.node(*reader).outputs[0];
  const auto applied = match_activation(editor, output);
  if (applied && applied->input == result && editor.type(output) == editor.type(result)) {
    product.activation = applied->activation;
    product.last = *reader;
  }
  return product;
}

// The rows of each value as a matrix, which its products share: so does a conversion of its layout.
using RowsOfValues = std::map<ValueId, ValueId>;

// The Gemm replaces the last node of the product.
void replace_by_gemm(GraphEditor& editor, const Product& product, RowsOfValues& rows_of) {
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
  std::map<size_t, Product> products;  // by the last node: in the order in which the results are computed
  for (const size_t index : editor.nodes()) {
    if (!has_constant_matrix(editor, index)) continue;
    const Product product = match_product(editor, index);
    products.emplace(product.last, product);
  }
  RowsOfValues rows_of;
  for (const auto& [last, product] : products) replace_by_gemm(editor, product, rows_of);
  editor.commit();
}

}  // namespace vellum
