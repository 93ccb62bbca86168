// evaluate() of a whole graph on the host reference.
#include "graph/graph.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

void check_input(const Value& value, const HostTensor& tensor) {
  if (!value.type_known) return;
  bool fits = value.type.dtype == tensor.dtype() && value.type.shape.size() == tensor.shape().size();
  for (size_t i = 0; fits && i < tensor.shape().size(); ++i) {
    fits = value.type.shape[i] == kUnknownDim || value.type.shape[i] == tensor.shape()[i];
  }
  if (!fits) {
    throw Error(ErrorCode::invalid_argument,
                "input '" + value.name + "' is " + std::string(name(value.type.dtype)) + ' ' +
                    to_string(value.type.shape) + ", given is " + std::string(name(tensor.dtype())) + ' ' +
                    to_string(tensor.shape()));
  }
}

// Returns the outputs of the model from the outputs of the graph before its tail.
std::vector<HostTensor> with_tail(const HostTail& tail, const std::vector<HostTensor>& before) {
  std::vector<HostTensor> read, outputs;
  for (const size_t index : tail.reads) read.push_back(before[index]);
  const std::vector<HostTensor> after = evaluate(tail.graph, read);
  for (const auto& [of_tail, index] : tail.outputs) outputs.push_back((of_tail ? after : before)[index]);
  return outputs;
}

// Counts the nodes and graph outputs that read each value. Its tensor is freed after the last read.
std::vector<uint32_t> count_uses(const Graph& graph) {
  std::vector<uint32_t> uses(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) ++uses[id];
    }
  }
  for (const ValueId id : graph.outputs) ++uses[id];
  return uses;
}

}  // namespace

std::vector<HostTensor> evaluate(const Graph& graph, std::span<const HostTensor> inputs) {
  const std::vector<HostTensor> outputs =
      evaluate(graph, inputs, [](const Node& node, std::span<const HostTensor* const> arguments) {
        return evaluate(node, arguments);
      });
  return graph.tail ? with_tail(*graph.tail, outputs) : outputs;
}

std::vector<HostTensor> evaluate(const Graph& graph, std::span<const HostTensor> inputs,
                                 const EvaluateNode& evaluate_node) {
  if (inputs.size() != graph.inputs.size()) {
    throw Error(ErrorCode::invalid_argument, "the graph has " + std::to_string(graph.inputs.size()) +
                                                 " inputs, given are " + std::to_string(inputs.size()));
  }
  std::vector<std::optional<HostTensor>> tensors(graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i) tensors[i] = graph.values[i].constant;
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_input(graph.values[graph.inputs[i]], inputs[i]);
    tensors[graph.inputs[i]] = inputs[i];
  }
  auto uses = count_uses(graph);
  for (const Node& node : graph.nodes) {
    std::vector<const HostTensor*> arguments;
    for (const ValueId id : node.inputs) arguments.push_back(id == kNoValue ? nullptr : &tensors[id].value());
    auto results = evaluate_node(node, arguments);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue && uses[node.outputs[i]] > 0)
        tensors[node.outputs[i]] = std::move(results[i]);
    }
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && --uses[id] == 0) tensors[id].reset();
    }
  }
  std::vector<HostTensor> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(tensors[id].value());
  return outputs;
}

}  // namespace vellum
