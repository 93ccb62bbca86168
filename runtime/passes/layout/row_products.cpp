#include "passes/layout/row_products.hpp"

#include "graph/operators/matmul/matmul.hpp"
#include "passes/rewrite/build.hpp"

namespace vellum {

bool multiplies_rows(const GraphEditor& editor, size_t index) {
  const auto product = match_node<MatMul>(editor, index);
  if (!product) return false;
  const HostTensor* matrix = editor.constant_input(index, 1);
  const ValueId rows = product.input(0);
  return matrix != nullptr && matrix->shape().size() == 2 && matrix->elements() > 0 &&
         editor.constant(rows) == nullptr && is_float_value(editor, product.node->outputs[0]) &&
         editor.type(rows).shape.size() >= 2 && element_count(editor.type(rows).shape) > 0;
}

RowProduct match_row_product(const GraphEditor& editor, size_t index) {
  RowProduct product;
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

}  // namespace vellum
