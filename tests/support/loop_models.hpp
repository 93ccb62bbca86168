// Builds models with graphs inside, such as the body of a Loop.
#pragma once

#include <vellum_onnx.pb.h>

#include <string>
#include <utility>
#include <vector>

#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {

inline HostTensor flag(bool value) {
  HostTensor tensor(DType::boolean, {});
  tensor.mutable_as<uint8_t>()[0] = value;
  return tensor;
}

inline HostTensor floats(const Shape& shape, const std::vector<float>& values) {
  return HostTensor::f32(shape, values);
}

inline void add_graph(onnx_schema::NodeProto& node, const char* name, OnnxModel& graph) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx_schema::AttributeProto::GRAPH);
  *attribute.mutable_g() = graph.proto().graph();
}

// Adds a node of `type` with a graph.
inline void add_body_node(OnnxModel& model, const std::string& type, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs, OnnxModel body,
                          const Attributes& more = {}) {
  model.node(type, inputs, outputs, more, "repeat");
  auto& graph = *model.proto().mutable_graph();
  add_graph(*graph.mutable_node(graph.node_size() - 1), "body", body);
}

// Adds a Loop that goes on until its body ends it, and returns the graph of the model, which has all outputs
// of the Loop. `states`: the names of their initial values.
inline Graph graph_with_loop(OnnxModel model, OnnxModel body, const std::vector<std::string>& states,
                             const std::vector<std::string>& outputs) {
  model.initializer("true", flag(true));
  std::vector<std::string> inputs{"", "true"};
  inputs.insert(inputs.end(), states.begin(), states.end());
  add_body_node(model, "Loop", inputs, outputs, std::move(body));
  for (const std::string& output : outputs) model.output(output);
  return model.graph();
}

}  // namespace vellum::test
