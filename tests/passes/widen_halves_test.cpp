// Graphs of halves become graphs of float32.
#include <gtest/gtest.h>

#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

HostTensor halves(const Shape& shape, uint32_t seed) {
  return HostTensor::from<float>(DType::f16, shape, random_tensor(shape, seed).to_floats());
}

Attributes to(DType dtype) { return attributes({{"to", int64_t{dtype == DType::f16 ? 10 : 1}}}); }

// Names of dtypes of all values that nodes compute.
std::string computed_types(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes)
    text += (text.empty() ? "" : " ") + std::string(name(graph.values[node.outputs[0]].type.dtype));
  return text;
}

TEST(WidenHalves, InputsAndOutputsKeepTheirType) {
  OnnxModel model;
  model.input("x", {2, 3}, DType::f16).initializer("b", halves({3}, 1));
  model.node("Add", {"x", "b"}, {"sum"}).node("Relu", {"sum"}, {"y"}).output("y");
  const Graph graph = optimise(model.graph(), {}, std::vector<std::string>{"fuse_activations"});
  EXPECT_EQ(types(graph), "Cast Add Relu Cast");
  EXPECT_EQ(computed_types(graph), "float32 float32 float32 float16");
  EXPECT_EQ(interface_of(graph), (std::vector<std::string>{"x float16 2x3", "y float16 2x3"}));
}

TEST(WidenHalves, ValuesBetweenCastsAreFloats) {
  OnnxModel model;
  model.input("x", {2, 4});
  model.node("Cast", {"x"}, {"half"}, to(DType::f16)).node("Sign", {"half"}, {"s"});
  model.node("Cast", {"s"}, {"y"}, to(DType::f32)).output("y");
  const Graph graph = after(widen_halves, model);
  EXPECT_EQ(types(graph), "Cast Sign Cast");
  EXPECT_EQ(computed_types(graph), "float32 float32 float32");
}

TEST(WidenHalves, CastsBetweenFloatsGo) {
  OnnxModel model;
  model.input("x", {2, 4});
  model.node("Cast", {"x"}, {"half"}, to(DType::f16)).node("Relu", {"half"}, {"r"});
  model.node("Cast", {"r"}, {"wide"}, to(DType::f32)).node("Softmax", {"wide"}, {"s"});
  model.node("Cast", {"s"}, {"again"}, to(DType::f16)).node("Neg", {"again"}, {"n"});
  model.node("Cast", {"n"}, {"y"}, to(DType::f32)).output("y");
  EXPECT_EQ(types(optimise(model.graph(), {})), "Relu Softmax Neg");
}

TEST(WidenHalves, WeightsOfProductsStayHalves) {
  OnnxModel model;
  model.input("x", {1, 2, 3, 3}, DType::f16).initializer("w", halves({4, 2, 1, 1}, 1));
  model.node("Conv", {"x", "w"}, {"y"}).output("y");
  const Graph graph = optimise(model.graph(), {});
  ASSERT_EQ(types(graph), "Cast Conv Cast");
  EXPECT_EQ(graph.constant(graph.nodes[1].inputs[1])->dtype(), DType::f16);
}

TEST(WidenHalves, WhatIsFoldedIntoWeightsIsNotRoundedToHalves) {
  OnnxModel model;
  model.input("x", {1, 1, 2, 2}, DType::f16);
  model.initializer("w", HostTensor::from<float>(DType::f16, {1, 1, 1, 1}, std::vector<float>{1000.0f}));
  model.initializer("c", HostTensor::from<float>(DType::f16, {}, std::vector<float>{1001.0f}));
  model.node("Conv", {"x", "w"}, {"t"}).node("Mul", {"t", "c"}, {"y"}).output("y");
  const Graph graph = optimise(model.graph(), {});
  ASSERT_EQ(types(graph), "Cast Conv Cast");
  EXPECT_EQ(graph.constant(graph.nodes[1].inputs[1])->to_floats()[0], 1001000.0f);
}

// sqrt(2) as a half differs from it by 1e-4.
TEST(WidenHalves, PatternsWithConstantsOfHalvesMatch) {
  const auto scalar = [](float value) {
    return HostTensor::from<float>(DType::f16, {}, std::vector<float>{value});
  };
  OnnxModel model;
  model.input("x", {2, 4}, DType::f16).initializer("root", scalar(1.41421356f));
  model.initializer("one", scalar(1.0f)).initializer("half", scalar(0.5f));
  model.node("Div", {"x", "root"}, {"d"}).node("Erf", {"d"}, {"e"}).node("Add", {"e", "one"}, {"a"});
  model.node("Mul", {"x", "a"}, {"m"}).node("Mul", {"m", "half"}, {"y"}).output("y");
  EXPECT_EQ(types(optimise(model.graph(), {})), "Cast Gelu Cast");
}

TEST(WidenHalves, ANumberThatIsNoHalfOfTheConstantDoesNotMatch) {
  OnnxModel model;
  model.input("x", {2, 4}).initializer("root", HostTensor::f32({}, std::vector<float>{1.4141f}));
  model.initializer("one", HostTensor::f32({}, std::vector<float>{1.0f}));
  model.initializer("half", HostTensor::f32({}, std::vector<float>{0.5f}));
  model.node("Div", {"x", "root"}, {"d"}).node("Erf", {"d"}, {"e"}).node("Add", {"e", "one"}, {"a"});
  model.node("Mul", {"x", "a"}, {"m"}).node("Mul", {"m", "half"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_activation_patterns, model)).find("Gelu"), std::string::npos);
}

TEST(WidenHalves, ResultsStay) {
  OnnxModel model;
  model.input("x", {2, 4}, DType::f16).initializer("w", halves({4, 4}, 1)).initializer("b", halves({4}, 2));
  model.node("MatMul", {"x", "w"}, {"t"}).node("Add", {"t", "b"}, {"y"}).output("y").output("t");
  Graph graph = model.graph();
  infer_shapes_and_fold(graph, {});
  const std::vector<HostTensor> inputs{halves({2, 4}, 3)};
  const auto expected = evaluate(graph, inputs);
  const auto outputs = evaluate(optimise(model.graph(), {}), inputs);
  ASSERT_EQ(outputs.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(outputs[i].dtype(), DType::f16);
    EXPECT_TRUE(close(outputs[i], expected[i], 2e-3));
  }
}

}  // namespace
}  // namespace vellum::test
