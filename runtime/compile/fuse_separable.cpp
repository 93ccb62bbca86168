#include "compile/fuse_separable.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "compile/fuse_expand.hpp"
#include "compile/match_depthwise.hpp"
#include "graph/operators/conv/pool_conv.hpp"
#include "graph/operators/conv/separable_conv.hpp"
#include "kernels/conv/separable.hpp"

namespace vellum {
namespace {

SeparableProblem problem_of(const GraphEditor& editor, const Match<Conv>& depthwise,
                            const Match<Conv>& product, Precision precision) {
  const Shape& x = editor.type(depthwise.input(0)).shape;
  return {.images = x[0],
          .inputs = x[1],
          .outputs = editor.type(product.input(1)).shape[0],
          .window = to_2d(depthwise->place(operator_inputs(editor.graph(), *depthwise.node))),
          .precision = precision,
          .has_residual = input_or_none(*product.node, 3) != kNoValue};
}

void fuse(GraphEditor& editor, size_t index, const DeviceCaps& caps, Precision precision) {
  const auto product = match_node<Conv>(editor, index);
  if (!product || !is_float_value(editor, product.node->outputs[0])) return;
  const auto depthwise = match_producer<Conv>(editor, product.input(0));
  if (!depthwise || editor.only_reader(product.input(0)) != index) return;
  if (!is_depthwise(editor, depthwise) || !is_product(editor, product)) return;
  const SeparableProblem problem = problem_of(editor, depthwise, product, precision);
  if (!fits_32_bits(problem.window) || tiles_of_one_kernel(problem, caps).empty()) return;
  // Or the depthwise convolution is for one kernel with the 1x1 convolution before it.
  if (const auto both = demand_of_both(editor, depthwise.index, precision);
      both && prefers_expand_fusion(caps, *both, problem.demand()))
    return;
  auto op = std::make_shared<SeparableConv>();
  op->depthwise = *depthwise.op;
  op->pointwise = *product.op;
  std::vector<ValueId> inputs;
  for (size_t slot = 0; slot < 3; ++slot) inputs.push_back(input_or_none(*depthwise.node, slot));
  for (size_t slot = 1; slot < 4; ++slot) inputs.push_back(input_or_none(*product.node, slot));
  while (inputs.back() == kNoValue) inputs.pop_back();
  const size_t first = depthwise.index;
  editor.replace(index, std::move(op), std::move(inputs));
  editor.remove(first);
}

// A max pool and the 1x1 convolution that alone reads it.
void fuse_pool_with_product(GraphEditor& editor, size_t index, const DeviceCaps& caps, Precision precision) {
  const auto product = match_node<Conv>(editor, index);
  if (!product || !is_float_value(editor, product.node->outputs[0])) return;
  const auto pool = match_producer<Pool>(editor, product.input(0));
  if (!pool || pool->kind != PoolKind::max || pool.node->outputs.size() != 1 || !is_product(editor, product))
    return;
  const Shape& x = editor.type(pool.input(0)).shape;
  if (x.size() > 4 || editor.only_reader(product.input(0)) != index) return;
  const SeparableProblem problem{.images = x[0],
                                 .inputs = x[1],
                                 .outputs = editor.type(product.input(1)).shape[0],
                                 .window = to_2d(pool->place(operator_inputs(editor.graph(), *pool.node))),
                                 .precision = precision,
                                 .has_residual = input_or_none(*product.node, 3) != kNoValue,
                                 .pools = true};
  if (!fits_32_bits(problem.window) || tiles_of_one_kernel(problem, caps).empty()) return;
  auto op = std::make_shared<PoolConv>();
  op->pool = *pool.op;
  op->pointwise = *product.op;
  std::vector<ValueId> inputs = product.node->inputs;
  inputs[0] = pool.input(0);
  const size_t first = pool.index;
  editor.replace(index, std::move(op), std::move(inputs));
  editor.remove(first);
}

}  // namespace

void fuse_separable(Graph& graph, const DeviceCaps& caps, Precision precision) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    fuse(editor, index, caps, precision);
    fuse_pool_with_product(editor, index, caps, precision);
  }
  editor.commit();
}

}  // namespace vellum
