// Inputs of a model whose values decide shapes.
#include "passes/shapes/shape_inputs.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/shape_operands.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

HostTensor sizes(const std::vector<int64_t>& values) {
  return HostTensor::i64({static_cast<int64_t>(values.size())}, values);
}

// Resizes to twice the size that an input gives.
OnnxModel resize_model(const Shape& of_sizes = {4}) {
  OnnxModel model;
  model.input("x", {1, 2, 3, 5})
      .input("half", of_sizes, DType::i64)
      .initializer("two", sizes({1, 1, 2, 2}))
      .node("Mul", {"half", "two"}, {"sizes"})
      .node("Resize", {"x", "", "", "sizes"}, {"y"}, attributes({{"mode", std::string("nearest")}}))
      .output("y");
  return model;
}

Shape output_shape(Graph graph, const InputTensors& values) {
  infer_shapes_and_fold(graph, {}, values);
  return graph.values[graph.outputs[0]].type.shape;
}

TEST(ShapeInputs, AreFoundThroughTheArithmeticThatTheyPass) {
  EXPECT_EQ(find_shape_inputs(resize_model().graph()), (std::vector<bool>{false, true}));
  EXPECT_EQ(find_shape_inputs(resize_model({kUnknownDim}).graph()), (std::vector<bool>{false, true}));
}

TEST(ShapeInputs, AreNoneWhereOnlyTheShapeOfAnInputIsRead) {
  OnnxModel model;
  model.input("x", {1, 2, 3, 5})
      .input("like", {30})
      .node("Shape", {"like"}, {"s"})
      .node("Reshape", {"x", "s"}, {"y"})
      .output("y");
  EXPECT_EQ(find_shape_inputs(model.graph()), (std::vector<bool>{false, false}));
}

TEST(ShapeInputs, AreNoneWhereDataTakesPart) {
  OnnxModel model;
  model.input("x", {1, 2, 8, 8})
      .input("k", {1}, DType::i64)
      .node("ReduceMax", {"x"}, {"most"}, attributes({{"keepdims", int64_t{0}}}))
      .node("Cast", {"most"}, {"count"}, attributes({{"to", int64_t{7}}}))
      .node("Add", {"count", "k"}, {"size"})
      .node("Expand", {"x", "size"}, {"y"})
      .output("y");
  EXPECT_EQ(find_shape_inputs(model.graph()), (std::vector<bool>{false, false}));
}

TEST(ShapeInputs, AreTheOperandsThatShapeRulesRead) {
  OnnxModel model;
  model.input("x", {6}).input("n", {1}, DType::i64).node("Tile", {"x", "n"}, {"y"}).output("y");
  const Graph graph = model.graph();
  EXPECT_TRUE(decides_shape(*graph.nodes[0].op, 1));
  EXPECT_FALSE(decides_shape(*graph.nodes[0].op, 0));
  EXPECT_EQ(output_shape(graph, {{"n", sizes({3})}}), Shape{18});
}

TEST(ShapeInputs, BecomeConstantsAndStayInputs) {
  Graph graph = resize_model().graph();
  infer_shapes_and_fold(graph, {}, {{"half", sizes({1, 2, 3, 5})}});
  check(graph);
  ASSERT_EQ(graph.inputs.size(), 2u);
  EXPECT_EQ(graph.constant(graph.inputs[1])->to_ints(), (std::vector<int64_t>{1, 2, 3, 5}));
  EXPECT_EQ(graph.values[graph.outputs[0]].type.shape, (Shape{1, 2, 6, 10}));
  EXPECT_EQ(optimise(resize_model().graph(), {}, {}, {{"half", sizes({1, 2, 3, 5})}}).inputs.size(), 2u);
}

TEST(ShapeInputs, MustBeGiven) {
  EXPECT_VELLUM_ERROR(output_shape(resize_model().graph(), {}), ErrorCode::invalid_argument, "'half'",
                      "decide shapes");
}

TEST(ShapeInputs, HostileValuesAreRefused) {
  const Graph graph = resize_model().graph();
  EXPECT_VELLUM_ERROR(output_shape(graph, {{"half", sizes({1, 2, int64_t{1} << 40, int64_t{1} << 40})}}),
                      ErrorCode::corrupt_model, "a size is");
  EXPECT_VELLUM_ERROR(output_shape(graph, {{"half", sizes({1, 2, -3, 5})}}), ErrorCode::corrupt_model, "-6");
  EXPECT_VELLUM_ERROR(output_shape(graph, {{"half", sizes({1, 2, 1 << 20, 1 << 20})}}),
                      ErrorCode::unsupported, "Resize");
}

TEST(ShapeInputs, ValuesThatDoNotFitAreRefused) {
  const Graph graph = resize_model({kUnknownDim}).graph();
  const std::vector<bool> found = find_shape_inputs(graph);
  EXPECT_VELLUM_ERROR(check_input_values(graph, found, {{"z", sizes({1})}}), ErrorCode::invalid_argument,
                      "'z'", "no input");
  EXPECT_VELLUM_ERROR(check_input_values(graph, found, {{"x", random_tensor({1, 2, 3, 5}, 1)}}),
                      ErrorCode::invalid_argument, "'x'", "decide no shape");
  EXPECT_VELLUM_ERROR(check_input_values(graph, found, {{"half", HostTensor(DType::i32, {4})}}),
                      ErrorCode::invalid_argument, "int32", "int64");
  EXPECT_VELLUM_ERROR(check_input_values(graph, found, {{"half", HostTensor(DType::i64, {65})}}),
                      ErrorCode::unsupported, "65", "64");
}

TEST(EmptyInputs, AreConstants) {
  OnnxModel model;
  model.input("x", {2, kUnknownDim, 4}).node("ReduceSum", {"x"}, {"y"}).output("y");
  Graph graph = model.graph();
  infer_shapes_and_fold(graph, {{"x", {2, 0, 4}}});
  EXPECT_TRUE(graph.nodes.empty());
  ASSERT_NE(graph.constant(graph.outputs[0]), nullptr);
  EXPECT_EQ(graph.constant(graph.outputs[0])->to_floats(), std::vector<float>{0});
}

}  // namespace
}  // namespace vellum::test
