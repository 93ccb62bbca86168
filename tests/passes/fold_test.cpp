// Shapes of inputs, shape inference and constant folding.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/small_tensors.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

Graph relu_graph(const Shape& shape) {
  OnnxModel model;
  return model.input("x", shape).node("Relu", {"x"}, {"y"}).output("y").graph();
}

Shape inferred(Graph graph, const InputShapes& shapes) {
  infer_shapes_and_fold(graph, shapes);
  return graph.values[graph.outputs[0]].type.shape;
}

TEST(InputShapes, OpenBatchIsOne) {
  EXPECT_EQ(inferred(relu_graph({kUnknownDim, 3, 4, 5}), {}), (Shape{1, 3, 4, 5}));
}

TEST(InputShapes, GivenShapesFillOpenDimensions) {
  EXPECT_EQ(inferred(relu_graph({kUnknownDim, 3, kUnknownDim, 5}), {{"x", {2, 3, 7, 5}}}),
            (Shape{2, 3, 7, 5}));
}

TEST(InputShapes, BatchMayDifferFromTheModels) {
  EXPECT_EQ(inferred(relu_graph({1, 3, 4, 5}), {{"x", {8, 3, 4, 5}}}), (Shape{8, 3, 4, 5}));
}

TEST(InputShapes, OtherOpenDimensionsMustBeGiven) {
  EXPECT_VELLUM_ERROR(inferred(relu_graph({kUnknownDim, 3, kUnknownDim, 5}), {}), ErrorCode::invalid_argument,
                      "input 'x'", "?x3x?x5");
}

TEST(InputShapes, FixedDimensionsCannotBeChanged) {
  const Graph graph = relu_graph({1, 3, 4, 5});
  EXPECT_VELLUM_ERROR(inferred(graph, {{"x", {1, 3, 4, 6}}}), ErrorCode::invalid_argument, "'x'", "1x3x4x5",
                      "1x3x4x6");
  EXPECT_VELLUM_ERROR(inferred(graph, {{"x", {1, 3, 4}}}), ErrorCode::invalid_argument, "'x'", "1x3x4");
  EXPECT_VELLUM_ERROR(inferred(graph, {{"x", {-2, 3, 4, 5}}}), ErrorCode::invalid_argument, "'x'",
                      "negative");
}

TEST(InputShapes, UnknownNamesAreRefusedWithTheInputsThereAre) {
  EXPECT_VELLUM_ERROR(inferred(relu_graph({1, 3}), {{"image", {1, 3}}}), ErrorCode::invalid_argument,
                      "'image'", "'x' (1x3)");
}

TEST(ShapeInference, NamesTheNodeThatDoesNotFit) {
  OnnxModel model;
  model.input("x", {1, 3, 8, 8}).initializer("w", random_tensor({4, 2, 3, 3}, 1));
  model.node("Conv", {"x", "w"}, {"y"}, {}, "stem").output("y");
  EXPECT_VELLUM_ERROR(inferred(model.graph(), {}), ErrorCode::corrupt_model, "Conv 'stem'");
}

TEST(ConstantFolding, ShapeArithmeticDisappears) {
  // How exporters write "twice as high and wide": Shape, Slice, Mul, Concat, Resize.
  OnnxModel model;
  model.input("x", {kUnknownDim, 2, 3, 5})
      .initializer("two", ints({2}))
      .initializer("four", ints({4}))
      .initializer("zero", ints({0}))
      .initializer("empty", HostTensor(DType::f32, {0}))
      .node("Shape", {"x"}, {"s"})
      .node("Slice", {"s", "two", "four", "zero"}, {"hw"})
      .node("Slice", {"s", "zero", "two", "zero"}, {"nc"})
      .node("Mul", {"hw", "two"}, {"hw2"})
      .node("Concat", {"nc", "hw2"}, {"sizes"}, attributes({{"axis", int64_t{0}}}))
      .node("Resize", {"x", "empty", "empty", "sizes"}, {"y"}, attributes({{"mode", std::string("nearest")}}))
      .output("y");
  Graph graph = model.graph();
  infer_shapes_and_fold(graph, {{"x", {3, 2, 3, 5}}});
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].op->type(), "Resize");
  EXPECT_EQ(graph.values[graph.outputs[0]].type.shape, (Shape{3, 2, 6, 10}));
}

TEST(ConstantFolding, KeepsTheValueOfConstantOutputs) {
  OnnxModel model;
  model.initializer("a", random_tensor({2, 3}, 1)).initializer("b", random_tensor({3}, 2));
  model.node("Add", {"a", "b"}, {"y"}).output("y");
  Graph graph = model.graph();
  const auto before = evaluate(graph, {});
  infer_shapes_and_fold(graph, {});
  EXPECT_TRUE(graph.nodes.empty());
  EXPECT_TRUE(close(evaluate(graph, {})[0], before[0], 0.0));
}

TEST(ConstantFolding, HugeResultsStayNodes) {
  OnnxModel model;
  model.initializer("shape", ints({1 << 14, 1 << 14})).node("ConstantOfShape", {"shape"}, {"y"}).output("y");
  Graph graph = model.graph();
  infer_shapes_and_fold(graph, {});
  EXPECT_EQ(graph.nodes.size(), 1u);
}

TEST(DeadCode, NodesAndValuesThatReachNoOutputGo) {
  OnnxModel model;
  model.input("x", {2}).input("unused", {3}).initializer("w", random_tensor({2}, 1));
  model.node("Add", {"x", "w"}, {"a"}).node("Relu", {"x"}, {"y"}).node("Relu", {"a"}, {"b"}).output("y");
  Graph graph = model.graph();
  remove_dead_code(graph);
  check(graph);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].op->type(), "Relu");
  EXPECT_EQ(graph.inputs.size(), 2u) << "inputs are the model's interface";
  EXPECT_EQ(graph.values.size(), 3u);
  EXPECT_FALSE(graph.find_value("w"));
}

}  // namespace
}  // namespace vellum::test
