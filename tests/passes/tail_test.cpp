// Operators with data-dependent shapes, and their readers, are cut off the graph.
#include "graph/graph.hpp"
#include "pass_harness.hpp"

namespace vellum::test {
namespace {

Graph inferred(const OnnxModel& model) {
  Graph graph = model.graph();
  infer_shapes_and_fold(graph, {});
  check(graph);
  return graph;
}

HostTensor longs(const Shape& shape, const std::vector<int64_t>& values) {
  return HostTensor::i64(shape, values);
}

TEST(Tail, BeginsWhereValuesTellTheShapeAndTakesWhatReadsIt) {
  OnnxModel model;
  model.input("x", {2, 6})
      .node("Relu", {"x"}, {"positive"})
      .node("NonZero", {"positive"}, {"places"})
      .node("Transpose", {"places"}, {"rows"})
      .node("Neg", {"positive"}, {"negative"})
      .node("GatherND", {"negative", "rows"}, {"values"})
      .output("values")
      .output("negative");
  const Graph graph = inferred(model);
  ASSERT_TRUE(graph.tail);
  EXPECT_EQ(types(graph), "Relu Neg");
  EXPECT_EQ(types(graph.tail->graph), "NonZero Transpose GatherND");
  EXPECT_EQ(graph.outputs.size(), 2u) << "what the tail reads and the model outputs is there once";
  const auto outputs = model_outputs(graph);
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0]->name, "values");
  EXPECT_EQ(outputs[0]->type, (TensorType{DType::f32, {kUnknownDim}}));
  EXPECT_EQ(outputs[1]->name, "negative");
  EXPECT_NE(to_text(graph).find("then on the host"), std::string::npos);
}

TEST(Tail, ComputesTheSameAfterAllPasses) {
  OnnxModel model;
  model.input("x", {2, 6})
      .initializer("one", HostTensor::f32({1}, std::vector<float>{1.0f}))
      .node("Mul", {"x", "one"}, {"same"})
      .node("Identity", {"same"}, {"again"})
      .node("Sigmoid", {"again"}, {"s"})
      .node("Mul", {"again", "s"}, {"silu"})
      .node("Relu", {"silu"}, {"positive"})
      .node("NonZero", {"positive"}, {"places"})
      .node("Transpose", {"places"}, {"rows"})
      .node("GatherND", {"again", "rows"}, {"values"})
      .output("values")
      .output("positive");
  const Graph imported = model.graph();
  const std::vector<HostTensor> inputs{random_tensor({2, 6}, 3)};
  const auto expected = evaluate(imported, inputs);
  const Graph graph = optimise(imported, {});
  ASSERT_TRUE(graph.tail);
  const auto outputs = evaluate(graph, inputs);
  ASSERT_EQ(outputs.size(), 2u);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(close(outputs[i], expected[i])) << i;
}

// The last reader in the graph before the tail is folded after the tail took another one.
TEST(Tail, KeepsFoldedConstantsThatOnlyTheTailReads) {
  OnnxModel model;
  model.input("x", {4, 5})
      .node("Shape", {"x"}, {"lengths"})
      .node("Identity", {"lengths"}, {"constant"})
      .node("NonZero", {"x"}, {"places"})
      .node("ReduceMax", {"places"}, {"last"}, attributes({{"keepdims", int64_t{0}}}))
      .node("Min", {"last", "constant"}, {"clipped"})
      .node("Neg", {"constant"}, {"negative"})
      .node("Abs", {"negative"}, {"shape"})
      .node("Reshape", {"x", "shape"}, {"y"})
      .output("clipped")
      .output("y");
  const Graph graph = inferred(model);
  ASSERT_TRUE(graph.tail);
  const std::vector<HostTensor> inputs{random_tensor({4, 5}, 3)};
  const auto expected = evaluate(model.graph(), inputs), outputs = evaluate(graph, inputs);
  ASSERT_EQ(outputs.size(), 2u);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(close(outputs[i], expected[i])) << i;
}

TEST(Tail, KnowsTypesAsFarAsTheyDoNotFollowFromTheValues) {
  OnnxModel model;
  model.input("x", {4, 5})
      .initializer("from", longs({1}, {0}))
      .initializer("to", longs({1}, {100}))
      .initializer("axis", longs({1}, {1}))
      .initializer("rows_of_two", longs({2}, {-1, 2}))
      .node("NonZero", {"x"}, {"places"})
      .node("Slice", {"places", "from", "to", "axis"}, {"at_most_100"})
      .node("Reshape", {"places", "rows_of_two"}, {"pairs"})
      .node("Shape", {"places"}, {"shape"})
      .node("ConstantOfShape", {"shape"}, {"zeros"})
      .output("at_most_100")
      .output("pairs")
      .output("shape")
      .output("zeros");
  const Graph graph = inferred(model);
  const auto outputs = model_outputs(graph);
  EXPECT_EQ(outputs[0]->type.shape, (Shape{2, kUnknownDim}));
  EXPECT_EQ(outputs[1]->type.shape, (Shape{kUnknownDim, 2}));
  EXPECT_EQ(outputs[2]->type.shape, (Shape{2}));
  EXPECT_FALSE(outputs[3]->type_known) << "its number of dimensions is a value";
  EXPECT_EQ(outputs[3]->type.shape, (Shape{kUnknownDim}));
}

TEST(Tail, IsNotThereWhereValuesAreKnownOrNobodyReadsTheResult) {
  OnnxModel known;
  known.input("x", {2})
      .initializer("places_of", HostTensor::f32({3}, std::vector<float>{0, 1, 2}))
      .node("NonZero", {"places_of"}, {"places"})
      .node("Gather", {"x", "places"}, {"y"})
      .output("y");
  EXPECT_FALSE(inferred(known).tail);
  OnnxModel unread;
  unread.input("x", {2}).node("NonZero", {"x"}, {"places"}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_FALSE(inferred(unread).tail);
}

// A host operator between two layers reads the one and feeds the other, so that they are no group. A sum
// without a layer stays on the host.
TEST(Tail, ConnectedLayersBecomeGroupsForTheDevice) {
  OnnxModel model;
  model.input("x", {4, 6})
      .initializer("axis", longs({}, {0}))
      .initializer("half", HostTensor::f32({}, std::vector<float>{0.5f}));
  model.initializer("w1", random_tensor({2, 4096}, 1)).initializer("w2", random_tensor({4096, 3}, 2));
  model.node("NonZero", {"x"}, {"places"})
      .node("Transpose", {"places"}, {"rows"})
      .node("Cast", {"rows"}, {"floats"}, attributes({{"to", int64_t{1}}}))
      .node("Add", {"floats", "half"}, {"moved"})
      .node("CumSum", {"moved", "axis"}, {"sums"})
      .node("MatMul", {"sums", "w1"}, {"h"})
      .node("Relu", {"h"}, {"a"})
      .node("CumSum", {"a", "axis"}, {"b"})
      .node("MatMul", {"b", "w2"}, {"y"})
      .output("y")
      .output("a");
  const Graph graph = inferred(model);
  ASSERT_TRUE(graph.tail);
  EXPECT_EQ(types(graph.tail->graph), "NonZero Transpose Cast Add CumSum DeviceRegion CumSum DeviceRegion");
  const std::vector<HostTensor> inputs{random_tensor({4, 6}, 3)};
  const auto expected = evaluate(model.graph(), inputs), outputs = evaluate(graph, inputs);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(close(outputs[i], expected[i], 0.0));
}

}  // namespace
}  // namespace vellum::test
