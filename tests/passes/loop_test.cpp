// Loop, Scan and sequences: read with what their graphs take from outside, and unrolled where the number of
// iterations is known.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/loop_models.hpp"
#include "support/onnx_builder.hpp"
#include "support/small_tensors.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

// x * step + the iteration; goes on while the sum of x is below 100. Stacks x.
OnnxModel growing_body() {
  OnnxModel body;
  body.input("i", {}, DType::i64).input("c", {}, DType::boolean).input("state", {kUnknownDim});
  body.initializer("most", floats({}, {100.0f}));
  body.node("Cast", {"i"}, {"fi"}, attributes({{"to", int64_t{1}}}))
      .node("Mul", {"state", "step"}, {"m"})
      .node("Add", {"m", "fi"}, {"next"})
      .node("ReduceSum", {"next"}, {"sum"}, attributes({{"keepdims", int64_t{0}}}))
      .node("Less", {"sum", "most"}, {"go"})
      .node("Identity", {"next"}, {"seen"});
  body.output("go").output("next").output("seen");
  return body;
}

// A body like it, with a condition that is passed through.
OnnxModel plain_body() {
  OnnxModel body = growing_body();
  body.proto().mutable_graph()->mutable_output(0)->set_name("c");
  return body;
}

OnnxModel loop_model(OnnxModel body, std::optional<int64_t> count, bool constant_x = false) {
  OnnxModel model;
  if (constant_x)
    model.initializer("x", floats({2}, {1, 2}));
  else
    model.input("x", {2});
  model.initializer("step", floats({1}, {2.0f})).initializer("true", flag(true));
  if (count) model.initializer("count", number(*count));
  add_body_node(model, "Loop", {count ? "count" : "", "true", "x"}, {"last", "all"}, std::move(body));
  return std::move(model.output("last").output("all"));
}

std::vector<float> list(const HostTensor& tensor) {
  const auto values = tensor.as<float>();
  return {values.begin(), values.end()};
}

TEST(Loop, KnownNumberOfIterationsIsUnrolled) {
  const Graph imported = loop_model(plain_body(), 3).graph();
  const Graph graph = optimise(imported, {});
  EXPECT_FALSE(graph.tail);
  for (const Node& node : graph.nodes) EXPECT_NE(node.op->type(), "Loop");
  const std::vector<HostTensor> inputs{floats({2}, {1, 2})};
  const auto outputs = evaluate(graph, inputs);
  EXPECT_EQ(list(outputs[0]), (std::vector<float>{12, 20}));
  EXPECT_EQ(outputs[1].shape(), (Shape{3, 2}));
  EXPECT_EQ(list(outputs[1]), (std::vector<float>{2, 4, 5, 9, 12, 20}));
  EXPECT_TRUE(close(evaluate(imported, inputs)[1], outputs[1], 0.0));
}

TEST(Loop, ConditionThatConstantsTellEndsIt) {
  const Graph graph = optimise(loop_model(growing_body(), std::nullopt, true).graph(), {});
  EXPECT_TRUE(graph.nodes.empty());
  const auto outputs = evaluate(graph, {});
  EXPECT_EQ(list(outputs[0]), (std::vector<float>{58, 90}));
  EXPECT_EQ(outputs[1].shape(), (Shape{5, 2}));
}

// A loop over 65 numbers: fewer could decide the number of iterations.
Graph loop_over_data(OnnxModel body) {
  OnnxModel model = loop_model(std::move(body), 10);
  auto& x = *model.proto().mutable_graph()->mutable_input(0);
  x.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(65);
  return model.graph();
}

TEST(Loop, ConditionOfDataRunsOnTheHostFromTheSecondIterationOn) {
  const Graph imported = loop_over_data(growing_body()), graph = optimise(imported, {});
  ASSERT_TRUE(graph.tail);
  EXPECT_FALSE(graph.nodes.empty()) << "the first iteration is known";
  for (const float value : {0.5f, 60.0f, -500.0f}) {
    const std::vector<HostTensor> inputs{floats({65}, std::vector<float>(65, value))};
    const auto expected = evaluate(imported, inputs), outputs = evaluate(graph, inputs);
    for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(close(outputs[i], expected[i], 0.0)) << value;
  }
}

// Exporters of PaddlePaddle declare scalars where a state has one element or more.
TEST(Loop, ShapesThatTheBodyDeclaresForItsStatesNeedNotHold) {
  OnnxModel body = growing_body();
  for (const int i : {1, 2}) {
    auto& input = *body.proto().mutable_graph()->mutable_input(i);
    auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.clear_dim();
    if (i == 1) shape.add_dim()->set_dim_value(1);
  }
  const std::vector<HostTensor> inputs{floats({65}, std::vector<float>(65, 0.5f))};
  const auto expected = evaluate(loop_over_data(growing_body()), inputs),
             outputs = evaluate(optimise(loop_over_data(std::move(body)), {}), inputs);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(close(outputs[i], expected[i], 0.0)) << i;
}

TEST(Loop, NoIterationGivesTheFirstStatesAndEmptyStacks) {
  const Graph graph = optimise(loop_model(plain_body(), 0).graph(), {});
  const auto outputs = evaluate(graph, std::vector<HostTensor>{floats({2}, {1, 2})});
  EXPECT_EQ(list(outputs[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(outputs[1].shape(), (Shape{0, 2}));
}

TEST(Loop, EndlessOnesMeetTheLimitOfNodes) {
  Graph graph = loop_model(plain_body(), std::nullopt).graph();
  graph.limits.nodes = 1000;
  EXPECT_VELLUM_ERROR(optimise(graph, {}), ErrorCode::unsupported, "repeat", "more than 1000 nodes");
}

TEST(Loop, NodesOfBranchesInItCountToo) {
  OnnxModel branch;
  std::string last = "state";
  for (int i = 0; i < 100; ++i) {
    const std::string next = "v" + std::to_string(i);
    branch.node("Neg", {last}, {next});
    last = next;
  }
  branch.output(last);
  OnnxModel body;
  body.input("i", {}, DType::i64).input("c", {}, DType::boolean).input("state", {2});
  body.initializer("yes", flag(true));
  body.node("If", {"yes"}, {"next"}).node("Identity", {"next"}, {"seen"});
  for (const char* name : {"then_branch", "else_branch"})
    add_graph(*body.proto().mutable_graph()->mutable_node(0), name, branch);
  body.output("c").output("next").output("seen");
  Graph graph = loop_model(std::move(body), 50).graph();
  graph.limits.nodes = 1000;
  EXPECT_VELLUM_ERROR(optimise(graph, {}), ErrorCode::unsupported, "more than 1000 nodes");
}

TEST(Loop, BodiesThatDoNotFitAreRefused) {
  const std::string more = "more";
  const auto model = [](auto&& damage) {
    OnnxModel body = plain_body();
    damage(*body.proto().mutable_graph());
    return loop_model(std::move(body), 3).graph();
  };
  EXPECT_VELLUM_ERROR(model([&](auto& graph) { graph.add_input()->set_name(more); }),
                      ErrorCode::corrupt_model, "repeat", "must have 3 inputs");
  EXPECT_VELLUM_ERROR(model([](auto& graph) { graph.mutable_output()->DeleteSubrange(1, 2); }),
                      ErrorCode::corrupt_model, "repeat", "1 outputs");
}

// The running sum of the rows of x from the last to the first, stacked along the last axis.
TEST(Scan, GathersElementsAndStacksResultsAlongAxesInDirections) {
  OnnxModel body;
  body.input("sum", {2}).input("row", {2});
  body.node("Add", {"sum", "row"}, {"next"})
      .node("Identity", {"next"}, {"copy"})
      .output("next")
      .output("copy");
  OnnxModel model;
  model.input("zero", {2}).input("x", {2, 3});
  add_body_node(model, "Scan", {"zero", "x"}, {"total", "sums"}, std::move(body),
                attributes({{"num_scan_inputs", int64_t{1}},
                            {"scan_input_axes", Attributes::Ints{1}},
                            {"scan_input_directions", Attributes::Ints{1}},
                            {"scan_output_axes", Attributes::Ints{-1}},
                            {"scan_output_directions", Attributes::Ints{1}}}));
  const Graph imported = model.output("total").output("sums").graph();
  const std::vector<HostTensor> inputs{floats({2}, {0, 0}), floats({2, 3}, {1, 2, 3, 10, 20, 30})};
  const Graph graph = optimise(imported, {});
  EXPECT_FALSE(graph.tail);
  for (const Graph& each : {imported, graph}) {
    const auto outputs = evaluate(each, inputs);
    EXPECT_EQ(list(outputs[0]), (std::vector<float>{6, 60}));
    EXPECT_EQ(outputs[1].shape(), (Shape{2, 3}));
    EXPECT_EQ(list(outputs[1]), (std::vector<float>{6, 5, 3, 60, 50, 30}));
  }
}

TEST(Sequence, HoldsTensorsThatOperatorsInsertEraseAndReadAgain) {
  OnnxModel model;
  model.input("x", {2}).initializer("first", number(0)).initializer("last", number(-1));
  model.node("Neg", {"x"}, {"a"})
      .node("SequenceConstruct", {"x", "a"}, {"s"})
      .node("SequenceInsert", {"s", "a", "first"}, {"t"})
      .node("Identity", {"t"}, {"u"})
      .node("SequenceErase", {"u", "last"}, {"v"})
      .node("SequenceAt", {"v", "last"}, {"y"})
      .node("SequenceLength", {"u"}, {"length"})
      .node("ConcatFromSequence", {"u"}, {"joined"}, attributes({{"axis", int64_t{0}}}))
      .node("ConcatFromSequence", {"v"}, {"stacked"},
            attributes({{"axis", int64_t{-1}}, {"new_axis", int64_t{1}}}));
  model.output("y").output("length").output("joined").output("stacked");
  const auto outputs = evaluate(optimise(model.graph(), {}), std::vector<HostTensor>{floats({2}, {1, 2})});
  EXPECT_EQ(list(outputs[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(outputs[1].as<int64_t>()[0], 3);
  EXPECT_EQ(list(outputs[2]), (std::vector<float>{-1, -2, 1, 2, -1, -2}));
  EXPECT_EQ(outputs[3].shape(), (Shape{2, 2}));
  EXPECT_EQ(list(outputs[3]), (std::vector<float>{-1, 1, -2, 2}));
}

TEST(Sequence, SplitsTensorsIntoEqualOrGivenParts) {
  OnnxModel model;
  model.input("x", {5}).initializer("two", number(2)).initializer("zero", number(0));
  model.initializer("sizes", HostTensor::i64({2}, std::vector<int64_t>{1, 4}));
  model.node("SplitToSequence", {"x", "two"}, {"s"})
      .node("SplitToSequence", {"x", "sizes"}, {"t"})
      .node("SplitToSequence", {"x"}, {"u"}, attributes({{"keepdims", int64_t{0}}}))
      .node("SequenceAt", {"s", "two"}, {"a"})
      .node("SequenceAt", {"t", "zero"}, {"b"})
      .node("SequenceAt", {"u", "two"}, {"c"});
  const Graph graph = optimise(model.output("a").output("b").output("c").graph(), {});
  const auto outputs = evaluate(graph, std::vector<HostTensor>{floats({5}, {0, 1, 2, 3, 4})});
  EXPECT_EQ(list(outputs[0]), (std::vector<float>{4}));
  EXPECT_EQ(list(outputs[1]), (std::vector<float>{0}));
  EXPECT_EQ(outputs[2].shape(), Shape{});
  EXPECT_EQ(list(outputs[2]), (std::vector<float>{2}));
}

// How torch exports a list that a loop fills.
TEST(Sequence, MayBeAStateOfALoop) {
  OnnxModel body;
  body.input("i", {}, DType::i64).input("c", {}, DType::boolean);
  body.proto().mutable_graph()->add_input()->set_name("list");
  body.node("Gather", {"x", "i"}, {"row"}).node("SequenceInsert", {"list", "row"}, {"longer"});
  body.output("c").output("longer");
  OnnxModel model;
  model.input("x", {3, 2}).initializer("true", flag(true)).initializer("count", number(3));
  model.node("SequenceEmpty", {}, {"empty"});
  add_body_node(model, "Loop", {"count", "true", "empty"}, {"rows"}, std::move(body));
  model.node("ConcatFromSequence", {"rows"}, {"y"}, attributes({{"axis", int64_t{0}}}));
  const Graph graph = optimise(model.output("y").graph(), {});
  const HostTensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(list(evaluate(graph, std::vector<HostTensor>{x})[0]), list(x));
}

TEST(Sequence, OfMoreTensorsThanAModelHasNodesIsRefused) {
  for (const char* chunk : {"", "two"}) {
    OnnxModel model;
    model.input("x", {int64_t{1} << 31}).initializer("two", number(2));
    model.node("SplitToSequence", {"x", chunk}, {"s"}).node("SequenceLength", {"s"}, {"y"});
    EXPECT_VELLUM_ERROR(optimise(model.output("y").graph(), {}), ErrorCode::unsupported, "SplitToSequence",
                        *chunk ? "1073741824 tensors" : "2147483648 tensors");
  }
}

TEST(Sequence, WhatOnlyARunTellsIsRefused) {
  OnnxModel model;
  model.input("x", {200}).node("SequenceConstruct", {"x", "x"}, {"s"});
  model.node("ArgMax", {"x"}, {"place"}, attributes({{"keepdims", int64_t{0}}}));
  model.node("SequenceAt", {"s", "place"}, {"y"});
  EXPECT_VELLUM_ERROR(optimise(model.output("y").graph(), {}), ErrorCode::unsupported, "SequenceAt",
                      "only at run time");
  OnnxModel output;
  output.input("x", {2}).node("SequenceConstruct", {"x"}, {"s"}).output("s");
  EXPECT_VELLUM_ERROR(optimise(output.graph(), {}), ErrorCode::unsupported,
                      "output of the model is a sequence");
}

}  // namespace
}  // namespace vellum::test
