// Layers in the iterations of a Loop that runs on the host become regions for the device.
#include <algorithm>

#include "graph/operators/control/device_region.hpp"
#include "graph/operators/control/loop.hpp"
#include "pass_harness.hpp"
#include "support/loop_models.hpp"

namespace vellum::test {
namespace {

constexpr int64_t kStateWidth = 512;

// A state `sum` of one row, to which each iteration adds tanh(sum x weights) + 1; goes on while its largest
// element is below 20. More states and nodes may follow.
OnnxModel layered_body() {
  OnnxModel body;
  body.input("i", {}, DType::i64).input("c", {}, DType::boolean).input("sum", {1, kStateWidth});
  body.initializer("most", floats({}, {20.0f})).initializer("one", floats({1}, {1.0f}));
  body.node("MatMul", {"sum", "weights"}, {"product"})
      .node("Tanh", {"product"}, {"small"})
      .node("Add", {"small", "one"}, {"row"})
      .node("Add", {"sum", "row"}, {"next"})
      .node("ReduceMax", {"next"}, {"largest"}, attributes({{"keepdims", int64_t{0}}}))
      .node("Less", {"largest", "most"}, {"go"});
  body.output("go").output("next");
  return body;
}

Graph layered(OnnxModel body, const std::vector<std::string>& states,
              const std::vector<std::string>& outputs) {
  OnnxModel model;
  model.input("x", {1, kStateWidth})
      .initializer("weights", random_tensor({kStateWidth, kStateWidth}, 3, -0.1f, 0.1f));
  return graph_with_loop(std::move(model), std::move(body), states, outputs);
}

const Graph& body_of(const Graph& graph) {
  const auto& nodes = graph.tail->graph.nodes;
  const auto found = std::ranges::find_if(nodes, [](const Node& node) { return node.op->type() == "Loop"; });
  return dynamic_cast<const LoopOperator&>(*found->op).body;
}

void expect_results(const Graph& imported, const Graph& graph) {
  const std::vector<HostTensor> inputs{random_tensor({1, kStateWidth}, 1)};
  const auto expected = evaluate(imported, inputs), outputs = evaluate(graph, inputs);
  for (size_t i = 0; i < outputs.size(); ++i) EXPECT_TRUE(close(outputs[i], expected[i], 1e-4)) << i;
}

TEST(LoopRegions, AreTheLayersBetweenNodesOfTheHost) {
  const Graph imported = layered(layered_body(), {"x"}, {"last"}), graph = optimise(imported, {});
  ASSERT_TRUE(graph.tail);
  EXPECT_EQ(types(body_of(graph)), "DeviceRegion ReduceMax Less");
  EXPECT_EQ(count_regions(graph.tail->graph), 1u);
  const auto& region = dynamic_cast<const DeviceRegion&>(*body_of(graph).nodes[0].op);
  EXPECT_EQ(types(region.body), "MatMul Tanh Add Add");
  EXPECT_EQ(region.body.inputs.size(), 1u) << "the weights are constants";
  EXPECT_EQ(region.is_late, std::vector<bool>{false});
  expect_results(imported, graph);
}

// Exporters of PaddlePaddle make the weights states.
TEST(LoopRegions, HaveWeightsThatAreStatesAsConstants) {
  OnnxModel body = layered_body();
  body.input("w", {kStateWidth, kStateWidth}).output("w");
  body.proto().mutable_graph()->mutable_node(0)->set_input(1, "w");
  const Graph imported = layered(std::move(body), {"x", "weights"}, {"last", "w_after"}),
              graph = optimise(imported, {});
  ASSERT_TRUE(graph.tail);
  const auto& region = dynamic_cast<const DeviceRegion&>(*body_of(graph).nodes[0].op);
  EXPECT_EQ(region.body.inputs.size(), 1u);
  expect_results(imported, graph);
}

TEST(LoopRegions, StatesThatBecomeLongerStayOnTheHost) {
  OnnxModel body = layered_body();
  body.input("rows", {kUnknownDim, kStateWidth});
  body.node("Concat", {"rows", "next"}, {"longer"}, attributes({{"axis", int64_t{0}}}))
      .node("MatMul", {"longer", "weights"}, {"products"})
      .node("ReduceMax", {"products"}, {"seen"})
      .output("longer")
      .output("seen");
  const Graph imported = layered(std::move(body), {"x", "x"}, {"last", "rows_after", "all_seen"}),
              graph = optimise(imported, {});
  ASSERT_TRUE(graph.tail);
  EXPECT_EQ(types(body_of(graph)), "DeviceRegion ReduceMax Less Concat MatMul ReduceMax");
  expect_results(imported, graph);
}

}  // namespace
}  // namespace vellum::test
