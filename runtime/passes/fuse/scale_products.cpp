// A product of matrices by a scalar becomes a part of the matrix product, whose kernels have a factor.
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/matmul/matmul.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Returns the factor of value = input * scalar.
std::optional<ScalarStep> match_factor(const GraphEditor& editor, ValueId value) {
  const auto step = match_scalar(editor, value);
  if (!step || step->kind != BinaryKind::mul || !std::isfinite(static_cast<float>(step->scalar)))
    return std::nullopt;
  return step;
}

// Returns the node if it is a MatMul of matrices that are computed. A constant matrix takes factors itself.
Match<MatMul> match_computed_product(const GraphEditor& editor, size_t index) {
  const auto product = match_node<MatMul>(editor, index);
  if (!product || !is_float_value(editor, product.node->outputs[0])) return {};
  for (const ValueId input : product.node->inputs)
    if (editor.constant(input) != nullptr) return {};
  return product;
}

void scale(GraphEditor& editor, size_t index, double factor) {
  auto op = std::make_shared<MatMul>(*match_node<MatMul>(editor, index).op);
  op->alpha = static_cast<float>(op->alpha * factor);
  editor.set_operator(index, std::move(op));
}

void take_factors_of_operands(GraphEditor& editor, size_t index) {
  for (const size_t slot : {size_t{0}, size_t{1}}) {
    std::vector<ValueId> inputs = editor.node(index).inputs;
    const auto step = match_factor(editor, inputs[slot]);
    if (!step || editor.only_reader(inputs[slot]) != index) continue;
    editor.remove(*editor.producer(inputs[slot]));
    inputs[slot] = step->input;
    editor.set_inputs(index, std::move(inputs));
    scale(editor, index, step->scalar);
  }
}

void take_factor_of_result(GraphEditor& editor, size_t index) {
  const ValueId result = editor.node(index).outputs[0];
  const auto reader = editor.only_reader(result);
  if (!reader || editor.node(*reader).outputs.size() != 1) return;
  const ValueId scaled = editor.node(*reader).outputs[0];
  const auto step = match_factor(editor, scaled);
  if (!step || step->input != result) return;
  editor.remove(*reader);
  editor.set_outputs(index, {scaled});
  scale(editor, index, step->scalar);
}

}  // namespace

void scale_products(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    if (!match_computed_product(editor, index)) continue;
    take_factors_of_operands(editor, index);
    take_factor_of_result(editor, index);
  }
  editor.commit();
}

}  // namespace vellum
