// A max pool and the 1x1 convolution after it in one kernel: conv_separable.comp with POOLED.
#include "kernels/fused/pool.hpp"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/fused/matching.hpp"
#include "kernels/fused/separable.hpp"
#include "kernels/reduction/pool.hpp"

namespace vellum {
namespace {

constexpr size_t kPoolNode = 0, kProductNode = 1, kProductWeights = 1, kProductResidual = 3;

SeparableProblem problem_of_pool(const FusedNodes& op, const std::vector<OperatorInput>& inputs,
                                 Precision precision) {
  return {.images = inputs[0].type.shape[0],
          .inputs = inputs[0].type.shape[1],
          .outputs = inputs[kProductWeights].type.shape[0],
          .window = to_2d(op.op<Pool>(kPoolNode).place(std::span(inputs).first(1))),
          .precision = precision,
          .has_residual = inputs.size() > kProductResidual && inputs[kProductResidual].present,
          .pools = true,
          .last = op.op<Conv>(kProductNode).activation};
}

TensorId emit_pool_alone(Lowering& lowering) {
  const auto& op = lowering.op<FusedNodes>();
  const std::vector<OperatorInput> inputs = operator_inputs(lowering);
  const TensorId x = lowering.read(0, Layout::channels4);
  const TensorId pooled = lowering.workspace_like(x, op.output_of(kPoolNode, inputs).shape, "/pool");
  const auto& pool = op.op<Pool>(kPoolNode);
  dispatch_pool(lowering, pool, pool.place(std::span(inputs).first(1)), x, pooled);
  return pooled;
}

}  // namespace

std::shared_ptr<const FusedNodes> pool_nodes(std::shared_ptr<const Operator> pool,
                                             std::shared_ptr<const Operator> pointwise) {
  auto op = std::make_shared<FusedNodes>(FusedKernelId::pool);
  const std::vector<ValueId> in = op->add_inputs(4);
  const ValueId middle = op->add_node("pool", std::move(pool), {in[0]});
  op->add_output(op->add_node("pointwise", std::move(pointwise), {middle, in[1], in[2], in[3]}));
  return op;
}

std::optional<FusedMatch> match_pool(const GraphEditor& editor, size_t index, const FusionContext& context) {
  const auto product = match_node<Conv>(editor, index);
  if (!product || !is_float_value(editor, product.node->outputs[0])) return std::nullopt;
  const auto pool = match_producer<Pool>(editor, product.input(0));
  if (!pool || pool->kind != PoolKind::max || pool.node->outputs.size() != 1 || !is_product(editor, product))
    return std::nullopt;
  if (editor.type(pool.input(0)).shape.size() > 4 || editor.only_reader(product.input(0)) != index)
    return std::nullopt;
  const auto op = pool_nodes(pool.node->op, product.node->op);
  Node node{product.node->name, op, inputs_or_none(*product.node, 0, 4), product.node->outputs};
  node.inputs[0] = pool.input(0);
  while (node.inputs.back() == kNoValue) node.inputs.pop_back();
  const SeparableProblem problem =
      problem_of_pool(*op, operator_inputs(editor.graph(), node), context.precision);
  if (!fits_32_bits(problem.window) || tiles_of_one_kernel(problem, context.caps).empty())
    return std::nullopt;
  return FusedMatch{index, std::move(node), {pool.index}};
}

void lower_fused_pool(Lowering& lowering) {
  const SeparableProblem problem =
      problem_of_pool(lowering.op<FusedNodes>(), operator_inputs(lowering), lowering.options().precision);
  emit_separable(lowering, problem, kProductWeights, emit_pool_alone);
}

}  // namespace vellum
