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

}  // namespace vellum::test
