#include "graph/graph.hpp"

#include <gtest/gtest.h>

#include "run_operator.hpp"

namespace vellum::testing {
namespace {

// x, w -> Add -> sum -> Relu -> y
Graph small_graph() {
  Graph graph;
  graph.name = "small";
  const ValueId x = graph.add_value("x", {DType::f32, {2}}, true);
  const ValueId w = graph.add_constant("w", floats({2}, {-5, 5}));
  const ValueId sum = graph.add_value("sum");
  const ValueId y = graph.add_value("y");
  graph.nodes.push_back({"add", make({"Add"}, {counting({2}), counting({2})}), {x, w}, {sum}});
  graph.nodes.push_back({"relu", make({"Relu"}, {counting({2})}), {sum}, {y}});
  graph.inputs = {x};
  graph.outputs = {y};
  return graph;
}

TEST(Graph, EvaluatesNodesInOrder) {
  const Graph graph = small_graph();
  check(graph);
  const auto outputs = evaluate(graph, std::vector{floats({2}, {1, 2})});
  ASSERT_EQ(outputs.size(), 1u);
  expect_floats(outputs[0], {2}, {0, 7});
}

TEST(Graph, FindsValuesByName) {
  const Graph graph = small_graph();
  EXPECT_EQ(graph.find_value("sum"), 2u);
  EXPECT_FALSE(graph.find_value("absent"));
  EXPECT_NE(graph.constant(1), nullptr);
  EXPECT_EQ(graph.constant(0), nullptr);
}

TEST(Graph, RefusesInputsThatDoNotFit) {
  const Graph graph = small_graph();
  expect_error(ErrorCode::invalid_argument, "input 'x'",
               [&] { evaluate(graph, std::vector{counting({3})}); });
  expect_error(ErrorCode::invalid_argument, "1 inputs", [&] { evaluate(graph, {}); });
}

TEST(Graph, ErrorsNameTheNode) {
  Graph graph = small_graph();
  graph.values[0].type_known = false;
  expect_error(ErrorCode::invalid_argument, "Add 'add': shapes 3 and 2 do not broadcast",
               [&] { evaluate(graph, std::vector{counting({3})}); });
}

TEST(Graph, ChecksOrderAssignmentAndNames) {
  Graph swapped = small_graph();
  std::swap(swapped.nodes[0], swapped.nodes[1]);
  expect_error(ErrorCode::corrupt_model, "'sum' is used before", [&] { check(swapped); });

  Graph twice = small_graph();
  twice.nodes[1].outputs = {2};
  expect_error(ErrorCode::corrupt_model, "'sum' is defined twice", [&] { check(twice); });

  Graph same_name = small_graph();
  same_name.values[3].name = "x";
  expect_error(ErrorCode::corrupt_model, "are called 'x'", [&] { check(same_name); });

  Graph dangling = small_graph();
  dangling.nodes[0].inputs[0] = 77;
  expect_error(ErrorCode::internal, "does not exist", [&] { check(dangling); });
}

TEST(Graph, PrintsOneLinePerNode) {
  const std::string text = to_text(small_graph());
  EXPECT_NE(text.find("input  x: float32 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  Add 'add'(x, w[2]) -> sum: ?\n"), std::string::npos) << text;
  EXPECT_NE(text.find("output y: ?\n"), std::string::npos) << text;
}

TEST(Graph, RefusesANodeWithMoreOutputsThanItsOperator) {
  Graph graph = small_graph();
  graph.nodes[1].outputs.push_back(graph.add_value("extra"));
  expect_error(ErrorCode::corrupt_model, "names 2 outputs",
               [&] { evaluate(graph, std::vector{counting({2})}); });
}

}  // namespace
}  // namespace vellum::testing
