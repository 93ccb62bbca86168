#include "support/operator_case.hpp"

#include <algorithm>

#include "vellum/error.hpp"

namespace vellum::test {

HostTensor rounded_to_half(const HostTensor& tensor) {
  if (tensor.dtype() != DType::f32) return tensor;
  HostTensor copy = tensor;
  for (float& value : copy.mutable_as<float>()) value = half_to_float(float_to_half(value));
  return copy;
}

Graph single_node_graph(const OperatorCase& test, bool round_to_half) {
  Graph graph;
  Node node;
  node.name = "under_test";
  NodeSpec spec;
  spec.type = test.type;
  spec.name = node.name;
  spec.opset = test.opset;
  spec.attributes = &test.attributes;
  spec.output_count = test.output_count;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const auto again = test.same_as.find(i);
    spec.input_present.push_back(test.inputs[i].has_value() || again != test.same_as.end());
    const std::string name = "x" + std::to_string(i);
    if (again != test.same_as.end()) {
      node.inputs.push_back(node.inputs.at(again->second));
    } else if (!test.inputs[i]) {
      node.inputs.push_back(kNoValue);
    } else if (test.constants.contains(i)) {
      node.inputs.push_back(
          graph.add_constant(name, round_to_half ? rounded_to_half(*test.inputs[i]) : *test.inputs[i]));
    } else {
      node.inputs.push_back(graph.add_value(name, test.inputs[i]->type(), true));
      graph.inputs.push_back(node.inputs.back());
    }
  }
  node.op = test.op ? test.op : make_operator(spec);
  if (test.activation) {
    node.op = node.op->with_activation(test.activation);
    if (!node.op) throw Error(ErrorCode::internal, test.type + " takes no activation");
  }
  const std::vector<TensorType> types = node.op->infer(operator_inputs(graph, node));
  for (size_t i = 0; i < std::min(types.size(), test.most_outputs); ++i) {
    node.outputs.push_back(graph.add_value("y" + std::to_string(i), types[i], true));
    graph.outputs.push_back(node.outputs.back());
  }
  graph.nodes.push_back(std::move(node));
  return graph;
}

}  // namespace vellum::test
