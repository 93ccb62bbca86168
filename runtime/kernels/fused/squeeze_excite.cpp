#include "kernels/fused/squeeze_excite.hpp"

#include <optional>
#include <span>
#include <utility>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/reduction/squeeze_excite.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/fused/matching.hpp"

namespace vellum {
namespace {

// The nodes of the body, and the first input of the gates.
constexpr size_t kGatedConv = 0, kSqueeze = 1, kGateWeights = 3;

ConvProblem gated_problem(const FusedNodes& op, const std::vector<OperatorInput>& inputs,
                          Precision precision) {
  const auto& conv = op.op<Conv>(kGatedConv);
  return depthwise_problem(nchw(inputs[0].type.shape)[0], inputs[0].type.shape[1],
                           to_2d(conv.place(std::span(inputs).first(3))), conv.activation, precision);
}

// Returns the sizes of the gates. `parts`: the number of partial means of each channel.
SqueezeSizes gate_sizes(const ConvProblem& problem, const std::vector<OperatorInput>& inputs, int64_t parts) {
  return {problem.images, problem.outputs, inputs[kGateWeights].type.shape[0],
          inputs[kGateWeights + 2].type.shape[0], parts};
}

bool has_constant_products(const GraphEditor& editor, const Node& squeeze) {
  for (size_t slot = 1; slot < squeeze.inputs.size(); ++slot)
    if (!is_constant_or_absent(editor, squeeze, slot)) return false;
  return true;
}

}  // namespace

std::shared_ptr<const FusedNodes> squeeze_excite_nodes(std::shared_ptr<const Operator> conv,
                                                       std::shared_ptr<const Operator> squeeze) {
  auto op = std::make_shared<FusedNodes>(FusedKernelId::squeeze_excite);
  const std::vector<ValueId> in = op->add_inputs(7);
  const ValueId y = op->add_node("conv", std::move(conv), {in[0], in[1], in[2]});
  op->add_output(y);
  op->add_output(op->add_node("squeeze", std::move(squeeze), {y, in[3], in[4], in[5], in[6]}));
  return op;
}

bool gains_by_means(const FusedNodes& op, const std::vector<OperatorInput>& inputs, const DeviceCaps& caps,
                    Precision precision) {
  constexpr uint32_t kTensors = 4;  // x, weights, y and the means
  const ConvProblem problem = gated_problem(op, inputs, precision);
  if (!fits_32_bits(problem.window) || kTensors > caps.max_storage_buffers_per_stage) return false;
  const std::optional<MeansTile> tile = means_tile(problem, caps);
  return tile && tile->pays && is_for_a_workgroup(caps, gate_sizes(problem, inputs, tile->parts));
}

void emit_depthwise_gates(Lowering& lowering, const ConvProblem& problem, const MeansTile& tile,
                          const SqueezeExcite& op, SqueezeSizes sizes, size_t weights, TensorId y,
                          TensorId gates, const DepthwiseSource& source) {
  constexpr uint32_t kBuffers = 3;  // x, filters, y
  const int64_t invocations = means_workgroup();
  sizes.pixels = tile.parts;
  if (gates_are_last(lowering.caps(), sizes, invocations, {kBuffers, 0})) {
    const LastGates last = last_gates(lowering, op, sizes, weights, gates);
    const auto add = [&](Dispatch& dispatch) { add_gates(dispatch, last, invocations); };
    return emit_depthwise_means(
        lowering, problem, tile, y, source,
        {add, last.hidden_params, last.gate_params, last.hidden_channels, last.counter});
  }
  const TensorId means =
      lowering.workspace_like(y, {problem.images, problem.outputs, 1, tile.parts}, "/means");
  const auto add = [&](Dispatch& dispatch) { dispatch.bindings.push_back(writes("means", means)); };
  emit_depthwise_means(lowering, problem, tile, y, source, {.add = add});
  squeeze_in_a_workgroup(lowering, op, sizes, means, weights, gates);
}

std::optional<FusedMatch> match_squeeze_excite(const GraphEditor& editor, size_t index,
                                               const FusionContext& context) {
  const auto squeeze = match_node<SqueezeExcite>(editor, index);
  if (!squeeze || !is_float_value(editor, squeeze.node->outputs[0])) return std::nullopt;
  const auto conv = match_producer<Conv>(editor, squeeze.input(0));
  if (!conv || !is_depthwise(editor, conv) || !has_constant_products(editor, *squeeze.node))
    return std::nullopt;
  const auto op = squeeze_excite_nodes(conv.node->op, squeeze.node->op);
  Node node{conv.node->name, op, inputs_or_none(*conv.node, 0, 3), conv.node->outputs};
  node.inputs.insert(node.inputs.end(), squeeze.node->inputs.begin() + 1, squeeze.node->inputs.end());
  node.outputs.push_back(squeeze.node->outputs[0]);
  if (!gains_by_means(*op, operator_inputs(editor.graph(), node), context.caps, context.precision))
    return std::nullopt;
  return FusedMatch{conv.index, std::move(node), {index}};
}

void lower_fused_squeeze_excite(Lowering& lowering) {
  const auto& op = lowering.op<FusedNodes>();
  const std::vector<OperatorInput> inputs = operator_inputs(lowering);
  const ConvProblem problem = gated_problem(op, inputs, lowering.options().precision);
  const std::optional<MeansTile> tile = means_tile(problem, lowering.caps());
  if (!tile) return lowering.run_on_host("its window has no kernel that takes means");
  const TensorId y = lowering.write(0, Layout::channels4), gates = lowering.write(1, Layout::channels4);
  emit_depthwise_gates(lowering, problem, *tile, op.op<SqueezeExcite>(kSqueeze),
                       gate_sizes(problem, inputs, tile->parts), kGateWeights, y, gates);
}

}  // namespace vellum
