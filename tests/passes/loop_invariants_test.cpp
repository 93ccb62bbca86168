// Loops that run on the host: what every iteration computes alike is computed once, before the Loop.
#include <algorithm>

#include "graph/operators/control/loop.hpp"
#include "pass_harness.hpp"
#include "support/loop_models.hpp"

namespace vellum::test {
namespace {

// A state `sum` of 65 numbers, to which each iteration adds a row; goes on until the numbers exceed 100.
OnnxModel adding_body(const std::string& row) {
  OnnxModel body;
  body.input("i", {}, DType::i64).input("c", {}, DType::boolean).input("sum", {65});
  body.initializer("most", floats({}, {100.0f}));
  body.node("Add", {"sum", row}, {"next"})
      .node("ReduceMax", {"next"}, {"largest"}, attributes({{"keepdims", int64_t{0}}}))
      .node("Less", {"largest", "most"}, {"go"});
  body.output("go").output("next");
  return body;
}

// Makes the last node the first of the graph.
void make_last_first(OnnxModel& model) {
  auto& nodes = *model.proto().mutable_graph()->mutable_node();
  std::rotate(nodes.begin(), nodes.end() - 1, nodes.end());
}

Graph looped(OnnxModel body, const std::vector<std::string>& states,
             const std::vector<std::string>& outputs) {
  OnnxModel model;
  model.input("x", {65}).input("step", {65}).initializer("weights", random_tensor({65, 65}, 3));
  return graph_with_loop(std::move(model), std::move(body), states, outputs);
}

const LoopOperator& only_loop(const Graph& tail) {
  const auto found =
      std::ranges::find_if(tail.nodes, [](const Node& node) { return node.op->type() == "Loop"; });
  return dynamic_cast<const LoopOperator&>(*found->op);
}

// Expects the results of the imported graph for one, for a few, and for many iterations.
void expect_same_results(const Graph& imported, const Graph& graph) {
  for (const float step : {200.0f, 40.0f, 3.0f}) {
    const std::vector<HostTensor> inputs{random_tensor({65}, 1), floats({65}, std::vector<float>(65, step))};
    const auto expected = evaluate(imported, inputs), outputs = evaluate(graph, inputs);
    ASSERT_EQ(outputs.size(), expected.size());
    for (size_t i = 0; i < outputs.size(); ++i)
      EXPECT_TRUE(close(outputs[i], expected[i], 0.0)) << step << ", output " << i;
  }
}

TEST(LoopInvariants, NodesThatReadOnlyValuesFromOutsideMoveBeforeTheLoop) {
  OnnxModel body = adding_body("row");
  body.node("Abs", {"step"}, {"row"});
  make_last_first(body);
  body.node("Neg", {"row"}, {"seen"}).output("seen");
  const Graph imported = looped(std::move(body), {"x"}, {"last", "all"}), graph = optimise(imported, {});
  ASSERT_TRUE(graph.tail);
  EXPECT_EQ(types(only_loop(graph.tail->graph).body), "Add ReduceMax Less");
  EXPECT_NE(types(graph).find("Abs"), std::string::npos) << types(graph);
  expect_same_results(imported, graph);
}

// Exporters of PaddlePaddle make the weights states, some of them through an Identity.
TEST(LoopInvariants, StatesThatIterationsPassOnAreValuesFromOutside) {
  OnnxModel body = adding_body("row");
  body.input("w", {65, 65}).input("s", {65});
  body.initializer("axis", HostTensor::i64({1}, std::vector<int64_t>{0}));
  body.node("Squeeze", {"product", "axis"}, {"row"});
  make_last_first(body);
  body.node("MatMul", {"line", "turned"}, {"product"});
  make_last_first(body);
  body.node("Unsqueeze", {"s", "axis"}, {"line"});
  make_last_first(body);
  body.node("Transpose", {"w"}, {"turned"}, attributes({{"perm", Attributes::Ints{1, 0}}}));
  make_last_first(body);
  body.node("Identity", {"s"}, {"same"}).output("w").output("same");
  const Graph imported = looped(std::move(body), {"x", "weights", "step"}, {"last", "w_after", "s_after"}),
              graph = optimise(imported, {});
  ASSERT_TRUE(graph.tail);
  EXPECT_EQ(types(only_loop(graph.tail->graph).body), "Add ReduceMax Less");
  expect_same_results(imported, graph);
}

TEST(LoopInvariants, StatesThatChangePlacesStay) {
  OnnxModel body = adding_body("row");
  body.input("a", {65}).input("b", {65});
  body.node("Abs", {"a"}, {"row"});
  make_last_first(body);
  body.output("b").output("a");
  const Graph imported = looped(std::move(body), {"x", "step", "x"}, {"last", "a_after", "b_after"}),
              graph = optimise(imported, {});
  ASSERT_TRUE(graph.tail);
  EXPECT_EQ(types(only_loop(graph.tail->graph).body), "Abs Add ReduceMax Less");
  expect_same_results(imported, graph);
}

// With no rows the maximum is none, and the Loop would have no iteration.
TEST(LoopInvariants, NodesThatReadDataDependentShapesStay) {
  OnnxModel body = adding_body("row");
  body.node("ReduceMax", {"rows"}, {"row"}, attributes({{"keepdims", int64_t{0}}}));
  make_last_first(body);
  OnnxModel model;
  model.input("x", {65}).input("mask", {65}, DType::boolean);
  model.node("Compress", {"x", "mask"}, {"rows"}, attributes({{"axis", int64_t{0}}}))
      .node("Shape", {"rows"}, {"shape"})
      .node("Cast", {"shape"}, {"some1"}, attributes({{"to", int64_t{9}}}))
      .node("Squeeze", {"some1"}, {"some"});
  add_body_node(model, "Loop", {"", "some", "x"}, {"last"}, std::move(body));
  const Graph imported = model.output("last").graph(), graph = optimise(imported, {});
  ASSERT_TRUE(graph.tail);
  EXPECT_EQ(types(only_loop(graph.tail->graph).body), "ReduceMax Add ReduceMax Less");
  for (const bool all : {true, false}) {
    HostTensor mask(DType::boolean, {65});
    std::ranges::fill(mask.mutable_as<uint8_t>(), all ? 1 : 0);
    const std::vector<HostTensor> inputs{floats({65}, std::vector<float>(65, 7.0f)), mask};
    EXPECT_TRUE(close(evaluate(graph, inputs)[0], evaluate(imported, inputs)[0], 0.0)) << all;
  }
}

// Stacked outputs may have elements of iterations that were unrolled.
TEST(LoopInvariants, ResultsComeBeforeTheElementsOfEarlierIterations) {
  OnnxModel body = adding_body("row");
  body.node("Abs", {"step"}, {"row"});
  make_last_first(body);
  body.node("Mul", {"next", "row"}, {"seen"}).output("seen");
  const Graph imported = looped(std::move(body), {"x"}, {"last", "all"}), graph = optimise(imported, {});
  ASSERT_TRUE(graph.tail);
  EXPECT_GT(only_loop(graph.tail->graph).finished, 0);
  EXPECT_EQ(types(only_loop(graph.tail->graph).body), "Add ReduceMax Less Mul");
  expect_same_results(imported, graph);
}

}  // namespace
}  // namespace vellum::test
