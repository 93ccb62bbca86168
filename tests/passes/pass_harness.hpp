// One call tests a pass: the result stays, names and types of the graph's inputs and outputs stay, and so do
// constants that the caller may share with other graphs.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/passes.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {

inline std::vector<std::string> interface_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const auto* list : {&graph.inputs, &graph.outputs}) {
    for (const ValueId id : *list) {
      const Value& value = graph.values[id];
      names.push_back(value.name + " " + std::string(name(value.type.dtype)) + " " +
                      to_string(value.type.shape));
    }
  }
  return names;
}

// The graph after `pass` and the removal of dead code; unchanged results on random inputs are expected.
template <typename Pass>
Graph after(Pass&& pass, const OnnxModel& model, uint32_t seed = 1) {
  Graph before = model.graph();
  infer_shapes_and_fold(before, {});
  const auto inputs = random_inputs(before, seed, -3.0f, 3.0f);
  const auto expected = evaluate(before, inputs);
  Graph graph = before;
  pass(graph);
  check(graph);
  remove_dead_code(graph);
  check(graph);
  EXPECT_EQ(interface_of(graph), interface_of(before));
  // The shape rules give the new operators the types that the values have.
  Graph inferred = graph;
  infer_shapes_and_fold(inferred, {});
  EXPECT_EQ(interface_of(inferred), interface_of(before));
  const auto outputs = evaluate(graph, inputs);
  for (size_t i = 0; i < outputs.size(); ++i)
    EXPECT_TRUE(close(outputs[i], expected[i], 1e-5)) << "output " << i;
  const auto again = evaluate(before, inputs);  // the original graph shares its weights
  for (size_t i = 0; i < again.size(); ++i)
    EXPECT_TRUE(close(again[i], expected[i], 0.0)) << "original output " << i;
  return graph;
}

// "Conv Relu": the operators in order.
inline std::string types(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    if (!text.empty()) text += ' ';
    text += node.op->type();
  }
  return text;
}

}  // namespace vellum::test
