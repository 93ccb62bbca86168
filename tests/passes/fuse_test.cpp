// Activations fused into what computes their input, padding into convolutions, zeros out of concatenations.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/movement/pad.hpp"
#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

OnnxModel with_conv(const Attributes& attrs = {}) {
  OnnxModel model;
  model.input("x", {1, 3, 6, 5}).initializer("w", random_tensor({4, 3, 3, 3}, 1));
  model.node("Conv", {"x", "w"}, {"c"}, attrs, "conv");
  return model;
}

TEST(FuseActivations, IntoConv) {
  for (const char* type : {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "Elu", "Softplus"}) {
    const Graph graph = after(fuse_activations, with_conv().node(type, {"c"}, {"y"}).output("y"));
    EXPECT_EQ(types(graph), "Conv") << type;
    EXPECT_EQ(graph.nodes[0].name, "conv");
  }
}

TEST(FuseActivations, ClipWithConstantBounds) {
  OnnxModel model = with_conv();
  model.initializer("low", HostTensor::f32({}, std::vector<float>{-0.5f}));
  model.initializer("high", HostTensor::f32({}, std::vector<float>{0.75f}));
  EXPECT_EQ(types(after(fuse_activations, model.node("Clip", {"c", "low", "high"}, {"y"}).output("y"))),
            "Conv");
}

TEST(FuseActivations, ClipWithComputedBoundsStays) {
  OnnxModel model = with_conv();
  model.input("low", {}).node("Clip", {"c", "low"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_activations, model)), "Conv Clip");
}

TEST(FuseActivations, IntoAdd) {
  OnnxModel model;
  model.input("a", {2, 3})
      .input("b", {2, 3})
      .node("Add", {"a", "b"}, {"s"})
      .node("Relu", {"s"}, {"y"})
      .output("y");
  EXPECT_EQ(types(after(fuse_activations, model)), "Add");
}

TEST(FuseActivations, IntoNormalizations) {
  for (const char* type : {"ChannelNormalization", "InstanceNormalization", "BatchNormalization"}) {
    OnnxModel model;
    model.input("x", {1, 4, 3, 5}).initializer("factors", random_tensor({4}, 1, 0.5f, 2));
    std::vector<std::string> inputs(type[0] == 'B' ? 5 : 3, "factors");
    inputs[0] = "x";
    model.node(type, inputs, {"n"}).node("Sigmoid", {"n"}, {"y"}).output("y");
    EXPECT_EQ(types(after(fuse_activations, model)), type);
  }
}

TEST(FuseActivations, OnlyTheFirstOfTwo) {
  OnnxModel model = with_conv();
  model.node("Relu", {"c"}, {"r"}).node("Sigmoid", {"r"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_activations, model)), "Conv Sigmoid");
}

OnnxModel with_scalars(const char* activation) {
  OnnxModel model = with_conv();
  model.initializer("s", HostTensor::f32({1}, std::vector<float>{1.5f}));
  model.initializer("b", HostTensor::f32({}, std::vector<float>{-0.25f}));
  model.node(activation, {"c"}, {"a"}).node("Mul", {"s", "a"}, {"m"}).node("Sub", {"m", "b"}, {"t"});
  model.node("Div", {"t", "s"}, {"y"}).output("y");
  return model;
}

TEST(FuseActivations, ScalarsBehindTheActivationGoAlong) {
  EXPECT_EQ(types(after(fuse_activations, with_scalars("HardSwish"))), "Conv");
  EXPECT_EQ(types(after(fuse_activations, with_scalars("Selu"))), "Conv Mul")
      << "no room for the scalars in Conv: they meet in Mul";
  OnnxModel model = with_scalars("Relu");
  model.node("Relu", {"y"}, {"z"}).output("z");
  EXPECT_EQ(types(after(fuse_activations, model)), "Conv Relu");
}

TEST(FuseActivations, QuotientsAndDifferencesFromScalarsStay) {
  for (const char* type : {"Div", "Sub"}) {
    OnnxModel model = with_conv();
    model.initializer("s", HostTensor::f32({}, std::vector<float>{1.5f}));
    model.node("Relu", {"c"}, {"a"}).node(type, {"s", "a"}, {"y"}).output("y");
    Graph graph = model.graph();  // not run: the quotient is infinite somewhere
    infer_shapes_and_fold(graph, {});
    fuse_activations(graph);
    EXPECT_EQ(types(graph), std::string("Conv ") + type);
  }
}

TEST(FuseActivations, ValueReadElsewhereStays) {
  OnnxModel read = with_conv();
  read.node("Relu", {"c"}, {"y"}).node("Neg", {"c"}, {"z"}).output("y").output("z");
  EXPECT_EQ(types(after(fuse_activations, read)), "Conv Relu Neg");
  OnnxModel output = with_conv();
  output.node("Relu", {"c"}, {"y"}).output("y").output("c");
  EXPECT_EQ(types(after(fuse_activations, output)), "Conv Relu");
}

TEST(FuseActivations, IntegersStay) {
  OnnxModel model(14);
  model.input("x", {2}, DType::i32)
      .initializer("b", HostTensor::from<float>(DType::i32, {2}, std::vector<float>{1, 2}));
  model.node("Sub", {"x", "b"}, {"s"}).node("Relu", {"s"}, {"y"}).output("y");
  Graph graph = model.graph();
  infer_shapes_and_fold(graph, {});
  fuse_activations(graph);
  EXPECT_EQ(types(graph), "Sub Relu");
}

OnnxModel padded_conv(const std::vector<int64_t>& pads, const Attributes& attrs, float value = 0.0f) {
  OnnxModel model;
  model.input("x", {1, 3, 6, 5}).initializer("pads", ints(pads));
  model.initializer("value", HostTensor::f32({}, std::vector<float>{value}));
  model.initializer("w", random_tensor({4, 3, 3, 3}, 1));
  model.node("Pad", {"x", "pads", "value"}, {"p"}).node("Conv", {"p", "w"}, {"y"}, attrs).output("y");
  return model;
}

TEST(FusePad, IntoConvWithoutPads) {
  const Graph graph = after(
      fuse_pad, padded_conv({0, 0, 0, 1, 0, 0, 2, 1}, attributes({{"strides", Attributes::Ints{2, 2}}})));
  ASSERT_EQ(types(graph), "Conv");
  EXPECT_EQ(dynamic_cast<const Conv&>(*graph.nodes[0].op).window.pads, (std::vector<int64_t>{0, 1, 2, 1}));
}

TEST(FusePad, AddsToTheConvsOwnPads) {
  const auto attrs =
      attributes({{"pads", Attributes::Ints{1, 1, 0, 2}}, {"dilations", Attributes::Ints{2, 1}}});
  EXPECT_EQ(types(after(fuse_pad, padded_conv({0, 0, 1, 0, 0, 0, 1, 1}, attrs))), "Conv");
  const auto valid = attributes({{"auto_pad", std::string("VALID")}});
  EXPECT_EQ(types(after(fuse_pad, padded_conv({0, 0, 1, 0, 0, 0, 1, 1}, valid))), "Conv");
}

TEST(FusePad, WhatIsNotZeroPaddingOfSpaceStays) {
  EXPECT_EQ(types(after(fuse_pad, padded_conv({0, 0, 1, 1, 0, 0, 1, 1}, {}, 0.5f))), "Pad Conv")
      << "another value";
  EXPECT_EQ(types(after(fuse_pad, padded_conv({0, 0, -1, 1, 0, 0, 1, 1}, {}))), "Pad Conv") << "cropping";
  EXPECT_EQ(types(after(fuse_pad, padded_conv({1, 0, 1, 1, 0, 0, 1, 1}, {}))), "Pad Conv") << "batch";
  const auto same = attributes({{"auto_pad", std::string("SAME_UPPER")}});
  EXPECT_EQ(types(after(fuse_pad, padded_conv({0, 0, 1, 1, 0, 0, 1, 1}, same))), "Pad Conv")
      << "pads depend on size";
  OnnxModel reflect;
  reflect.input("x", {1, 3, 6, 5}).initializer("pads", ints({0, 0, 1, 1, 0, 0, 1, 1}));
  reflect.initializer("w", random_tensor({4, 3, 3, 3}, 1));
  reflect.node("Pad", {"x", "pads"}, {"p"}, attributes({{"mode", std::string("reflect")}}));
  reflect.node("Conv", {"p", "w"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_pad, reflect)), "Pad Conv") << "reflection";
}

TEST(FusePad, PadThatOthersReadToo) {
  OnnxModel model = padded_conv({0, 0, 1, 1, 0, 0, 1, 1}, {});
  model.node("Relu", {"p"}, {"z"}).output("z");
  EXPECT_EQ(types(after(fuse_pad, model)), "Pad Conv Relu");
}

TEST(FusePad, PoolsKeepTheirPad) {
  for (const char* type : {"MaxPool", "AveragePool"}) {
    OnnxModel model;
    model.input("x", {1, 3, 6, 5}).initializer("pads", ints({0, 0, 1, 1, 0, 0, 1, 1}));
    model.node("Pad", {"x", "pads"}, {"p"});
    model.node(type, {"p"}, {"y"}, attributes({{"kernel_shape", Attributes::Ints{2, 2}}})).output("y");
    EXPECT_EQ(types(after(fuse_pad, model)), std::string("Pad ") + type);
  }
}

TEST(ConcatZerosToPad, ZerosOnBothSides) {
  OnnxModel model;
  model.input("x", {1, 3, 2, 2}).initializer("one", HostTensor(DType::f32, {1, 1, 2, 2}));
  model.initializer("two", HostTensor(DType::f32, {1, 2, 2, 2}));
  model.node("Concat", {"one", "x", "two", "one"}, {"y"}, attributes({{"axis", int64_t{-3}}})).output("y");
  const Graph graph = after(concat_zeros_to_pad, model);
  ASSERT_EQ(types(graph), "Pad");
  EXPECT_EQ(*dynamic_cast<const Pad&>(*graph.nodes[0].op).pads, (Attributes::Ints{0, 1, 0, 0, 0, 3, 0, 0}));
  EXPECT_FALSE(graph.find_value("one"));
}

TEST(ConcatZerosToPad, ChannelPaddingAsBlazeFaceHasIt) {
  OnnxModel model;
  model.input("x", {1, 3, 2, 2}).initializer("shape", ints({1, 4, 2, 2}));
  model.node("ConstantOfShape", {"shape"}, {"zeros"});
  model.node("Concat", {"x", "zeros"}, {"y"}, attributes({{"axis", int64_t{1}}})).output("y");
  EXPECT_EQ(types(after(concat_zeros_to_pad, model)), "Pad");
}

TEST(ConcatZerosToPad, OthersStay) {
  const auto concat = [](const std::vector<std::string>& inputs) {
    OnnxModel model;
    model.input("x", {2, 2}).input("u", {2, 2}).initializer("zeros", HostTensor(DType::f32, {2, 2}));
    model.initializer("ones", random_tensor({2, 2}, 1, 0.5f, 1.0f));
    model.node("Concat", inputs, {"y"}, attributes({{"axis", int64_t{0}}})).output("y");
    return types(after(concat_zeros_to_pad, model));
  };
  EXPECT_EQ(concat({"x", "ones"}), "Concat");
  EXPECT_EQ(concat({"x", "u", "zeros"}), "Concat");
  EXPECT_EQ(concat({"x", "u"}), "Concat");
  EXPECT_EQ(concat({"x", "zeros"}), "Pad");
}

OnnxModel with_pointwise() {
  OnnxModel model;
  model.input("x", {2, 3, 4, 5}).input("r", {2, 6, 4, 5});
  model.initializer("w", random_tensor({6, 3, 1, 1}, 1)).initializer("b", random_tensor({6}, 2));
  model.node("Conv", {"x", "w", "b"}, {"c"}, {}, "conv");
  return model;
}

TEST(FuseResidual, EitherSideOfTheAdd) {
  EXPECT_EQ(types(after(fuse_residual, with_pointwise().node("Add", {"c", "r"}, {"y"}).output("y"))), "Conv");
  EXPECT_EQ(types(after(fuse_residual, with_pointwise().node("Add", {"r", "c"}, {"y"}).output("y"))), "Conv");
}

TEST(FuseResidual, ThenTheActivation) {
  OnnxModel model = with_pointwise();
  model.node("Add", {"c", "r"}, {"s"}).node("Relu", {"s"}, {"y"}).output("y");
  const Graph graph = after(
      [](Graph& g) {
        fuse_residual(g);
        fuse_activations(g);
      },
      model);
  EXPECT_EQ(types(graph), "Conv");
}

TEST(FuseResidual, ComputedAfterTheConv) {
  OnnxModel model = with_pointwise();
  model.node("Sigmoid", {"r"}, {"late"}).node("Add", {"c", "late"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_residual, model)), "Sigmoid Conv");
}

TEST(FuseResidual, OnlyOneOfTwoConvolutions) {
  OnnxModel model = with_pointwise();
  model.node("Conv", {"x", "w"}, {"d"}).node("Add", {"c", "d"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_residual, model)), "Conv Conv");
}

TEST(FuseResidual, ChannelsPaddedWithZerosAreNotRead) {
  OnnxModel model = with_pointwise();
  model.input("narrow", {2, 4, 4, 5}).initializer("pads", ints({0, 0, 0, 0, 0, 2, 0, 0}));
  model.node("Pad", {"narrow", "pads"}, {"wide"}).node("Add", {"c", "wide"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_residual, model)), "Conv");
}

TEST(FuseResidual, ChannelsPaddedOtherwiseStay) {
  for (const std::vector<int64_t>& pads :
       {std::vector<int64_t>{0, 2, 0, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 1, 0, 0}}) {
    OnnxModel model = with_pointwise();
    model.input("narrow", {2, 4, 4, 5}).initializer("pads", ints(pads));
    model.node("Pad", {"narrow", "pads"}, {"wide"}).node("Add", {"c", "wide"}, {"y"}).output("y");
    EXPECT_EQ(types(after(fuse_residual, model)), "Pad Conv");
  }
}

TEST(FuseResidual, NotWhereTheResultIsReadTwiceOrBroadcast) {
  OnnxModel twice = with_pointwise();
  twice.node("Add", {"c", "r"}, {"s"}).node("Mul", {"s", "c"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_residual, twice)), "Conv Add Mul");
  OnnxModel itself = with_pointwise();
  EXPECT_EQ(types(after(fuse_residual, itself.node("Add", {"c", "c"}, {"y"}).output("y"))), "Conv Add");
  OnnxModel row = with_pointwise();
  row.input("row", {1, 6, 1, 5}).node("Add", {"c", "row"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_residual, row)), "Conv Add");
}

TEST(FuseResidual, IntoWiderConvolutionsAndThoseOfGroups) {
  OnnxModel model = with_conv();
  model.input("r", {1, 4, 4, 3}).node("Add", {"c", "r"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_residual, model)), "Conv");
  OnnxModel groups;
  groups.input("x", {1, 4, 6, 5}).input("r", {1, 4, 4, 3}).initializer("w", random_tensor({4, 2, 3, 3}, 1));
  groups.node("Conv", {"x", "w"}, {"c"}, attributes({{"group", int64_t{2}}}));
  groups.node("Add", {"c", "r"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_residual, groups)), "Conv");
}

}  // namespace
}  // namespace vellum::test
