#include "kernels/fused/rounded_gates.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "graph/operators/reduction/squeeze_excite.hpp"
#include "kernels/conv/pointwise.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/elementwise/elementwise.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/fused/matching.hpp"
#include "kernels/reduction/squeeze_excite.hpp"
#include "passes/patterns/channel_means.hpp"

namespace vellum {
namespace {

constexpr size_t kWeightsOfHidden = 1, kWeightsOfGate = 3, kHiddenTable = 5, kGateTable = 6;

// A layer of the body.
struct BodyLayer {
  const Conv* conv = nullptr;
  const ByteTable* table = nullptr;
};
// The operators of the body: a mean, a rounding, and two layers.
struct Body {
  Activation rounding;
  BodyLayer hidden, gate;
};

Body body_of(const FusedNodes& op) {
  Body body;
  for (const Node& node : op.body.nodes) {
    BodyLayer& last = body.gate.conv ? body.gate : body.hidden;
    if (const auto* unary = dynamic_cast<const Unary*>(node.op.get())) body.rounding = unary->activation;
    if (const auto* conv = dynamic_cast<const Conv*>(node.op.get()))
      (body.hidden.conv ? body.gate : body.hidden).conv = conv;
    if (const auto* table = dynamic_cast<const ByteTable*>(node.op.get())) last.table = table;
  }
  return body;
}

SqueezeSizes gates_of(const std::vector<OperatorInput>& inputs) {
  const auto [n, c, h, w] = nchw(inputs[0].type.shape);
  return {n, c, inputs[kWeightsOfHidden].type.shape[0], inputs[kWeightsOfGate].type.shape[0], h * w};
}

// Returns whether the buffers of x, both weights, y and the tables can be bound, if weights are in buffers.
bool can_bind_buffers(const FusedNodes& op, const DeviceCaps& caps) {
  const Body body = body_of(op);
  const uint32_t tensors = body.hidden.table || body.gate.table ? 5 : 4;
  return tensors <= caps.max_storage_buffers_per_stage;
}

// --- The match ---

// A layer of the graph whose result is at the end: a Conv, or its table.
struct MatchedLayer {
  Match<Conv> conv;
  Match<ByteTable> table;
  GateLayer operators() const { return {conv.node->op, table ? table.node->op : nullptr}; }
  ValueId entries() const { return table ? table.input(1) : kNoValue; }
};

bool is_product_of_one_position(const GraphEditor& editor, const Match<Conv>& conv) {
  return conv->group == 1 && conv.node->inputs.size() <= 3 && has_fusible_weights(editor, *conv.node) &&
         has_one_position(editor.type(conv.input(0)).shape) &&
         has_one_position(editor.type(conv.input(1)).shape) &&
         has_one_position(editor.type(conv.node->outputs[0]).shape) &&
         is_float_value(editor, conv.node->outputs[0]);
}

std::optional<MatchedLayer> match_layer(const GraphEditor& editor, size_t index) {
  MatchedLayer layer{.conv = {}, .table = match_table_of_layer(editor, index)};
  layer.conv =
      layer.table ? match_producer<Conv>(editor, layer.table.input(0)) : match_node<Conv>(editor, index);
  if (!layer.conv || !is_product_of_one_position(editor, layer.conv)) return std::nullopt;
  if (!layer.table && is_read_by_table(editor, layer.conv.node->outputs[0])) return std::nullopt;
  return layer;
}

// Matches the layer whose result only the node at `reader` reads.
std::optional<MatchedLayer> match_layer_before(const GraphEditor& editor, ValueId value, size_t reader) {
  const auto producer = editor.producer(value);
  return producer && editor.only_reader(value) == reader ? match_layer(editor, *producer) : std::nullopt;
}

// --- The nodes one by one ---

TensorId emit_layer(Lowering& lowering, const BodyLayer& layer, TensorId x, int64_t outputs, size_t weights,
                    size_t table, TensorId y) {
  Shape shape = lowering.tensor(x).desc.shape;
  const int64_t inputs = shape[1], images = shape[0];
  shape[1] = outputs;
  const std::string name = weights == kWeightsOfHidden ? "/hidden" : "/gates";
  const TensorId sums =
      y != kNoTensor && !layer.table ? y : lowering.workspace_like(x, shape, name + " of sums");
  emit_best_pointwise(
      lowering,
      {.pixels = images, .inputs = inputs, .outputs = outputs, .precision = lowering.options().precision}, x,
      sums, layer.conv->activation, weights);
  if (!layer.table) return sums;
  if (y == kNoTensor) y = lowering.workspace_like(x, shape, name);
  look_up(lowering, *layer.table, *lowering.constant(table), Layout::channels4, sums, y);
  return y;
}

void emit_one_by_one(Lowering& lowering, const Body& body, const SqueezeSizes& sizes) {
  const TensorId means = means_of_input(lowering);
  const Shape shape = lowering.tensor(means).desc.shape;
  const TensorId rounded = lowering.workspace_like(means, shape, "/rounded means");
  combine(lowering, "Max", body.rounding, Layout::channels4, {means, shape}, {means, shape},
          {rounded, shape});
  const TensorId hidden =
      emit_layer(lowering, body.hidden, rounded, sizes.hidden, kWeightsOfHidden, kHiddenTable, kNoTensor);
  emit_layer(lowering, body.gate, hidden, sizes.outputs, kWeightsOfGate, kGateTable,
             lowering.write(0, Layout::channels4));
}

// --- The kernel ---

std::vector<float> entries_of(const Lowering& lowering, const BodyLayer& layer, size_t input) {
  if (!layer.table) return {};
  return entries_from(*lowering.constant(input), *layer.table, layer.conv->activation);
}

void emit_one_kernel_of_gates(Lowering& lowering, const Body& body, const SqueezeSizes& sizes) {
  SqueezeExcite op;
  op.hidden = body.hidden.conv->activation;
  op.gate = body.gate.conv->activation;
  squeeze_input(lowering, op, sizes,
                {.mean = body.rounding,
                 .hidden_table = entries_of(lowering, body.hidden, kHiddenTable),
                 .gate_table = entries_of(lowering, body.gate, kGateTable)});
}

// Returns whether the kernel's tensors can be bound. The weights have the storage of the result.
bool can_bind(const Lowering& lowering) {
  return can_bind_buffers(lowering.op<FusedNodes>(), lowering.caps()) ||
         lowering.texel_grid(1, 1).storage == Storage::image2d;
}

}  // namespace

std::shared_ptr<const FusedNodes> rounded_gates_nodes(std::shared_ptr<const Operator> rounding,
                                                      const GateLayer& hidden, const GateLayer& gate) {
  auto mean = std::make_shared<GlobalPool>();
  mean->kind = PoolKind::average;
  auto op = std::make_shared<FusedNodes>(FusedKernelId::rounded_gates);
  const std::vector<ValueId> in = op->add_inputs(7);
  ValueId value = op->add_node("mean", std::move(mean), {in[0]});
  value = op->add_node("rounding", std::move(rounding), {value});
  value = op->add_node("hidden", hidden.conv, {value, in[kWeightsOfHidden], in[kWeightsOfHidden + 1]});
  if (hidden.table) value = op->add_node("hidden table", hidden.table, {value, in[kHiddenTable]});
  value = op->add_node("gate", gate.conv, {value, in[kWeightsOfGate], in[kWeightsOfGate + 1]});
  if (gate.table) value = op->add_node("gate table", gate.table, {value, in[kGateTable]});
  op->add_output(value);
  return op;
}

std::optional<FusedMatch> match_rounded_gates(const GraphEditor& editor, size_t index,
                                              const FusionContext& context) {
  const auto gate = match_layer(editor, index);
  const auto hidden = gate ? match_layer_before(editor, gate->conv.input(0), gate->conv.index) : std::nullopt;
  const auto rounding = hidden ? match_producer<Unary>(editor, hidden->conv.input(0)) : Match<Unary>{};
  if (!rounding || rounding->kind != UnaryKind::activation || !rounding->activation.only_rounds() ||
      editor.only_reader(hidden->conv.input(0)) != hidden->conv.index)
    return std::nullopt;
  const auto mean = editor.producer(rounding.input(0));
  if (!mean || editor.only_reader(rounding.input(0)) != rounding.index || !computes_means(editor, *mean))
    return std::nullopt;
  const auto op = rounded_gates_nodes(rounding.node->op, hidden->operators(), gate->operators());
  Node node{editor.node(index).name, op, {editor.node(*mean).inputs[0]}, editor.node(index).outputs};
  for (const auto& layer : {*hidden, *gate})
    std::ranges::copy(inputs_or_none(*layer.conv.node, 1, 2), std::back_inserter(node.inputs));
  for (const auto& layer : {*hidden, *gate}) node.inputs.push_back(layer.entries());
  const SqueezeSizes sizes = gates_of(operator_inputs(editor.graph(), node));
  if (!shares_a_workgroup(context.caps, sizes)) return std::nullopt;
  if (!can_bind_buffers(*op, context.caps) && !context.caps.prefers_images) return std::nullopt;
  FusedMatch match{index, std::move(node), {*mean, rounding.index, hidden->conv.index}};
  if (hidden->table) match.removed.push_back(hidden->table.index);
  if (gate->table) match.removed.push_back(gate->conv.index);
  return match;
}

void lower_fused_rounded_gates(Lowering& lowering) {
  const Body body = body_of(lowering.op<FusedNodes>());
  const SqueezeSizes sizes = gates_of(operator_inputs(lowering));
  std::vector<KernelCandidate> candidates;
  if (shares_a_workgroup(lowering.caps(), sizes) && can_bind(lowering))
    candidates.push_back({{"one workgroup"}, 1, [body, sizes](Lowering& node) {
                            emit_one_kernel_of_gates(node, body, sizes);
                          }});
  candidates.push_back(
      {{"one by one"}, 3, [body, sizes](Lowering& node) { emit_one_by_one(node, body, sizes); }});
  lowering.emit_best(candidates);
}

}  // namespace vellum
