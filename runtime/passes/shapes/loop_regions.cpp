#include "passes/shapes/loop_regions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/layers.hpp"
#include "graph/operators/control/loop.hpp"
#include "passes/shapes/device_regions.hpp"
#include "passes/shapes/loop_invariants.hpp"
#include "passes/shapes/open_types.hpp"

namespace vellum {
namespace {

// Operators on floats that have kernels, if their other operands are constants.
constexpr std::array<std::string_view, 42> kFloatOperators{"Conv",
                                                           "ConvTranspose",
                                                           "MatMul",
                                                           "Gemm",
                                                           "MaxPool",
                                                           "AveragePool",
                                                           "GlobalAveragePool",
                                                           "GlobalMaxPool",
                                                           "BatchNormalization",
                                                           "InstanceNormalization",
                                                           "LayerNormalization",
                                                           "GroupNormalization",
                                                           "Softmax",
                                                           "ReduceMean",
                                                           "ReduceSum",
                                                           "Add",
                                                           "Sub",
                                                           "Mul",
                                                           "Div",
                                                           "Pow",
                                                           "Sqrt",
                                                           "Exp",
                                                           "Neg",
                                                           "Erf",
                                                           "Relu",
                                                           "LeakyRelu",
                                                           "PRelu",
                                                           "Sigmoid",
                                                           "Tanh",
                                                           "HardSigmoid",
                                                           "HardSwish",
                                                           "Silu",
                                                           "Elu",
                                                           "Gelu",
                                                           "Softplus",
                                                           "Transpose",
                                                           "Reshape",
                                                           "Flatten",
                                                           "Squeeze",
                                                           "Unsqueeze",
                                                           "Concat",
                                                           "Split"};

// The time of a run of a region, in elementary operations of the host: about a millisecond.
constexpr uint64_t kLeastWork = uint64_t{1} << 20;

bool is_known_float(const Value& value) {
  return value.type_known && value.type.dtype == DType::f32 && is_known(value.type.shape) &&
         element_count(value.type.shape) > 0;
}

bool fits_loop_region(const Graph& body, const Node& node) {
  if (std::ranges::find(kFloatOperators, node.op->type()) == kFloatOperators.end()) return false;
  bool reads_variable = false;
  for (const ValueId id : node.inputs) {
    if (id == kNoValue) return false;
    if (body.constant(id)) continue;
    if (!is_known_float(body.values[id])) return false;
    reads_variable = true;
  }
  return reads_variable && std::ranges::all_of(node.outputs, [&](ValueId id) {
           return id != kNoValue && is_known_float(body.values[id]);
         });
}

bool computes_much(const Graph& body, std::span<const size_t> nodes) {
  uint64_t work = 0;
  for (const size_t i : nodes) {
    const Node& node = body.nodes[i];
    if (is_layer(body, node) && node.op->type().find("Conv") != std::string_view::npos) return true;
    std::vector<TensorType> outputs;
    for (const ValueId id : node.outputs) outputs.push_back(body.values[id].type);
    work = saturating_add(work, node.op->work(operator_inputs(body, node), outputs));
  }
  return work >= kLeastWork;
}

void bind_inputs(Graph& body, const Graph& outer, const Node& node, const LoopOperator& loop) {
  const std::vector<bool> is_invariant = invariant_inputs(loop);
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    Value& input = body.values[body.inputs[i]];
    if (i == 0) {
      input.type = {DType::i64, loop.iteration_shape()};
      input.type_known = true;
      continue;
    }
    input.type_known = false;
    if (node.inputs[i] == kNoValue) continue;
    const Value& given = outer.values[node.inputs[i]];
    input.type = given.type;
    input.type_known = given.type_known && is_known(given.type.shape);
    if (is_invariant[i]) input.constant = given.constant;
  }
}

// Returns the body with the types that its values have in each iteration, and with constants from outside;
// nothing if too many states change their types.
std::optional<Graph> typed_body(const Graph& outer, const Node& node, const LoopOperator& loop) {
  constexpr int kMostRounds = 8;
  Graph body = loop.body;
  bind_inputs(body, outer, node, loop);
  for (int round = 0; round < kMostRounds; ++round) {
    for (const Node& inner : body.nodes) {
      const std::vector<TensorType> types = open_types(body, inner);
      for (size_t i = 0; i < inner.outputs.size(); ++i) {
        if (inner.outputs[i] == kNoValue) continue;
        Value& output = body.values[inner.outputs[i]];
        output.type_known = i < types.size();
        if (output.type_known) output.type = types[i];
      }
    }
    bool changed = false;
    for (size_t i = 0; i <= loop.states; ++i) {
      Value& before = body.values[body.inputs[1 + i]];
      const Value& after = body.values[body.outputs[i]];
      if (!before.type_known || (after.type_known && after.type == before.type)) continue;
      before.type_known = false;
      changed = true;
    }
    if (!changed) return body;
  }
  return std::nullopt;
}

}  // namespace

void group_loop_layers(HostTail& tail) {
  for (Node& node : tail.graph.nodes) {
    const auto* const loop = dynamic_cast<const LoopOperator*>(node.op.get());
    if (!loop) continue;
    std::optional<Graph> typed = typed_body(tail.graph, node, *loop);
    if (!typed) continue;
    typed->limits = tail.graph.limits;
    group_nodes(*typed, {fits_loop_region, computes_much, false});
    auto grouped = std::make_shared<LoopOperator>(*loop);
    grouped->body.nodes = std::move(typed->nodes);
    node.op = std::move(grouped);
  }
}

}  // namespace vellum
