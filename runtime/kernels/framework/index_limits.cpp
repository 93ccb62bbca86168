#include "kernels/framework/index_limits.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/tensor_scatter.hpp"

namespace vellum {
namespace {

// A value of integers that is an input of the graph plus a constant.
struct ShiftedInput {
  ValueId input = kNoValue;
  int64_t shift = 0;
};

class InputTracer {
 public:
  explicit InputTracer(const Graph& graph) : graph_(graph), producers_(graph.values.size(), nullptr) {
    for (const Node& node : graph.nodes)
      for (const ValueId output : node.outputs)
        if (output != kNoValue) producers_[output] = &node;
  }

  std::optional<ShiftedInput> trace(ValueId value) const {
    int64_t shift = 0;
    while (const Node* node = producers_[value]) {
      const std::optional<ShiftedInput> before = step(*node);
      if (!before) return std::nullopt;
      value = before->input;
      shift += before->shift;
    }
    return graph_.constant(value) == nullptr ? std::optional(ShiftedInput{value, shift}) : std::nullopt;
  }

 private:
  std::optional<ShiftedInput> step(const Node& node) const {
    const bool keeps = dynamic_cast<const ReshapeFamily*>(node.op.get()) || is_integer_cast(node);
    if (keeps) return ShiftedInput{node.inputs[0], 0};
    const auto* binary = dynamic_cast<const Binary*>(node.op.get());
    if (binary == nullptr) return std::nullopt;
    if (binary->kind != BinaryKind::add && binary->kind != BinaryKind::sub) return std::nullopt;
    if (const auto added = constant_of(node.inputs[1]))
      return ShiftedInput{node.inputs[0], binary->kind == BinaryKind::add ? *added : -*added};
    const auto added = binary->kind == BinaryKind::add ? constant_of(node.inputs[0]) : std::nullopt;
    return added ? std::optional(ShiftedInput{node.inputs[1], *added}) : std::nullopt;
  }

  bool is_integer_cast(const Node& node) const {
    const auto is_integer = [&](ValueId value) {
      const DType dtype = graph_.values[value].type.dtype;
      return dtype == DType::i32 || dtype == DType::i64;
    };
    return dynamic_cast<const Cast*>(node.op.get()) && is_integer(node.inputs[0]) &&
           is_integer(node.outputs[0]);
  }

  // All elements of a constant, if they are equal.
  std::optional<int64_t> constant_of(ValueId value) const {
    const HostTensor* constant = graph_.constant(value);
    if (constant == nullptr || constant->elements() == 0 || is_float(constant->dtype())) return std::nullopt;
    const std::vector<int64_t> values = constant->to_ints();
    if (std::ranges::adjacent_find(values, std::ranges::not_equal_to()) != values.end()) return std::nullopt;
    return values[0];
  }

  const Graph& graph_;
  std::vector<const Node*> producers_;  // by ValueId
};

}  // namespace

void limit_write_indices(Program& program, const Graph& graph) {
  if (program.inputs.size() != graph.inputs.size()) return;
  const InputTracer tracer(graph);
  for (const Node& node : graph.nodes) {
    const auto* scatter = dynamic_cast<const TensorScatter*>(node.op.get());
    const auto traced = scatter ? tracer.trace(node.inputs[2]) : std::nullopt;
    const auto input = traced ? std::ranges::find(graph.inputs, traced->input) : graph.inputs.end();
    if (input == graph.inputs.end()) continue;
    Port& port = program.inputs[static_cast<size_t>(input - graph.inputs.begin())];
    if (port.is_state) continue;
    const auto [batch, outer, capacity, tokens, inner] =
        scatter->extents(graph.values[node.inputs[0]].type.shape, graph.values[node.inputs[1]].type.shape);
    IndexLimits limits{-traced->shift, capacity - tokens - traced->shift,
                       node.name.empty() ? graph.values[node.outputs[0]].name : node.name};
    if (port.indices) {
      limits.least = std::max(limits.least, port.indices->least);
      limits.most = std::min(limits.most, port.indices->most);
    }
    port.indices = std::move(limits);
  }
}

}  // namespace vellum
