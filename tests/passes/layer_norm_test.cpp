// Normalisations and softmax that a model spells out become one operator.
#include <array>
#include <string>

#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

// The deviation of x from its mean along the last axis as `d`, its standard deviation as `s`.
OnnxModel with_moments(bool power, Shape shape = {2, 5, 6}) {
  OnnxModel m;
  m.input("x", shape).initializer("two", scalar(2.0f)).initializer("epsilon", scalar(1e-5f));
  m.initializer("scale", random_tensor({shape.back()}, 1))
      .initializer("bias", random_tensor({shape.back()}, 2));
  const Attributes last = attributes({{"axes", Attributes::Ints{-1}}});
  m.node("ReduceMean", {"x"}, {"mean"}, last).node("Sub", {"x", "mean"}, {"d"});
  if (power)
    m.node("Pow", {"d", "two"}, {"square"});
  else
    m.node("Mul", {"d", "d"}, {"square"});
  m.node("ReduceMean", {"square"}, {"variance"}, last).node("Add", {"variance", "epsilon"}, {"v"});
  m.node("Sqrt", {"v"}, {"s"});
  return m;
}

TEST(FuseLayerNorm, QuotientWithScaleAndBias) {
  for (const bool power : {true, false}) {
    OnnxModel m = with_moments(power);
    m.node("Div", {"d", "s"}, {"q"})
        .node("Mul", {"q", "scale"}, {"p"})
        .node("Add", {"bias", "p"}, {"y"})
        .output("y");
    EXPECT_EQ(types(after(fuse_layer_norm, m)), "LayerNormalization");
  }
}

TEST(FuseLayerNorm, WithoutScaleOrBias) {
  OnnxModel m = with_moments(true);
  m.node("Div", {"d", "s"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_layer_norm, m)), "LayerNormalization");
}

TEST(FuseLayerNorm, ProductWithTheInverseDeviation) {
  OnnxModel m = with_moments(true);
  m.node("Reciprocal", {"s"}, {"r"})
      .node("Mul", {"r", "d"}, {"q"})
      .node("Mul", {"q", "scale"}, {"y"})
      .output("y");
  EXPECT_EQ(types(after(fuse_layer_norm, m)), "LayerNormalization");
}

TEST(FuseLayerNorm, TwoProductsOfTensorFlow) {
  OnnxModel m = with_moments(false);
  m.node("Reciprocal", {"s"}, {"r"}).node("Mul", {"r", "scale"}, {"f"}).node("Mul", {"x", "f"}, {"a"});
  m.node("Mul", {"mean", "f"}, {"b"})
      .node("Sub", {"bias", "b"}, {"c"})
      .node("Add", {"a", "c"}, {"y"})
      .output("y");
  EXPECT_EQ(types(after(fuse_layer_norm, m)), "LayerNormalization");
}

struct JaxForm {
  bool fast_variance = true;  // the mean of squares less the square of the mean
  float mean_factor = 1.0f / 6.0f;
  std::string squared = "x";
};

// As JAX and flax write it: sums without their dimension, times a constant, with Reshape and Expand after
// them.
OnnxModel of_jax(const JaxForm& form) {
  OnnxModel m;
  m.input("x", {2, 5, 6})
      .initializer("factor", scalar(form.mean_factor))
      .initializer("epsilon", scalar(1e-5f));
  m.initializer("zero", scalar(0.0f)).initializer("scale", random_tensor({1, 1, 6}, 1));
  m.initializer("bias", random_tensor({1, 1, 6}, 2))
      .initializer("axis", HostTensor::i64({1}, std::array{int64_t{2}}));
  m.initializer("kept", HostTensor::i64({3}, Attributes::Ints{2, 5, 1}));
  if (form.squared != "x") m.node("Add", {"x", "bias"}, {form.squared});
  const auto mean = [&](const std::string& of, const std::string& name) {
    m.node("ReduceSum", {of, "axis"}, {name + ".sum"}, attributes({{"keepdims", int64_t{0}}}));
    m.node("Mul", {name + ".sum", "factor"}, {name + ".flat"});
  };
  const auto kept = [&](const std::string& flat, const std::string& name) {
    m.node("Reshape", {flat, "kept"}, {name + ".row"}).node("Expand", {name + ".row", "kept"}, {name});
  };
  mean("x", "mean");
  kept("mean.flat", "mean");
  m.node("Sub", {"x", "mean"}, {"d"});
  if (form.fast_variance) {
    m.node("Mul", {form.squared, form.squared}, {"square"});
    mean("square", "squares");
    m.node("Mul", {"mean.flat", "mean.flat"}, {"of_mean"})
        .node("Sub", {"squares.flat", "of_mean"}, {"difference"});
    m.node("Max", {"zero", "difference"}, {"variance.flat"});
  } else {
    m.node("Mul", {"d", "d"}, {"square"});
    mean("square", "variance");
  }
  kept("variance.flat", "variance");
  m.node("Add", {"variance", "epsilon"}, {"v"}).node("Sqrt", {"v"}, {"s"}).node("Reciprocal", {"s"}, {"r"});
  m.node("Mul", {"r", "scale"}, {"f"})
      .node("Mul", {"d", "f"}, {"p"})
      .node("Add", {"p", "bias"}, {"y"})
      .output("y");
  return m;
}

TEST(FuseLayerNorm, MomentsOfJax) {
  for (const bool fast : {true, false})
    EXPECT_EQ(types(after(fuse_layer_norm, of_jax({.fast_variance = fast}))), "LayerNormalization") << fast;
}

TEST(FuseLayerNorm, OtherMomentsStay) {
  const auto stays = [](const OnnxModel& m) {
    return types(after(fuse_layer_norm, m)).find("LayerNormalization") == std::string::npos;
  };
  EXPECT_TRUE(stays(of_jax({.mean_factor = 1.0f / 5.0f}))) << "no mean";
  EXPECT_TRUE(stays(of_jax({.squared = "other"}))) << "moments of two tensors";
}

// Llama's form: a quotient by the root of the mean of squares, with the scale first or last.
TEST(FuseLayerNorm, RootMeanSquareWithoutAMean) {
  for (const bool inverse : {false, true}) {
    OnnxModel m;
    m.input("x", {2, 5, 6}).initializer("two", scalar(2.0f)).initializer("epsilon", scalar(1e-5f));
    m.initializer("scale", random_tensor({6}, 1));
    m.node("Pow", {"x", "two"}, {"square"});
    m.node("ReduceMean", {"square"}, {"mean"}, attributes({{"axes", Attributes::Ints{-1}}}));
    m.node("Add", {"mean", "epsilon"}, {"sum"}).node("Sqrt", {"sum"}, {"root"});
    if (inverse)
      m.node("Reciprocal", {"root"}, {"r"}).node("Mul", {"x", "r"}, {"q"});
    else
      m.node("Div", {"x", "root"}, {"q"});
    m.node("Mul", {"scale", "q"}, {"y"}).output("y");
    EXPECT_EQ(types(after(fuse_layer_norm, m)), "RMSNormalization");
  }
}

// LayerNorm2d of SAM and ConvNeXt, and RmsNorm2d of MobileNetV5, on N, C, H, W.
TEST(FuseLayerNorm, ChannelsOfImages) {
  const Attributes channels = attributes({{"axes", Attributes::Ints{1}}});
  for (const bool centred : {true, false}) {
    OnnxModel m;
    m.input("x", {2, 6, 3, 5}).initializer("two", scalar(2.0f)).initializer("epsilon", scalar(1e-6f));
    m.initializer("scale", random_tensor({6, 1, 1}, 1)).initializer("bias", random_tensor({1, 6, 1, 1}, 2));
    const std::string d = centred ? "d" : "x";
    if (centred) m.node("ReduceMean", {"x"}, {"mean"}, channels).node("Sub", {"x", "mean"}, {"d"});
    m.node("Pow", {d, "two"}, {"square"}).node("ReduceMean", {"square"}, {"variance"}, channels);
    m.node("Add", {"variance", "epsilon"}, {"v"}).node("Sqrt", {"v"}, {"s"}).node("Div", {d, "s"}, {"q"});
    m.node("Mul", {"scale", "q"}, {"p"}).node("Add", {"p", "bias"}, {"y"}).output("y");
    EXPECT_EQ(types(after(fuse_layer_norm, m)),
              centred ? "ChannelNormalization" : "ChannelNormalization Add");
  }
}

// A mean of channels, and a scale of pixels.
TEST(FuseLayerNorm, ScaleOfPixelsStaysApart) {
  OnnxModel m;
  m.input("x", {2, 6, 3, 5}).initializer("two", scalar(2.0f)).initializer("epsilon", scalar(1e-6f));
  m.initializer("scale", random_tensor({3, 1}, 1)).node("Pow", {"x", "two"}, {"square"});
  m.node("ReduceMean", {"square"}, {"mean"}, attributes({{"axes", Attributes::Ints{1}}}));
  m.node("Add", {"mean", "epsilon"}, {"v"}).node("Sqrt", {"v"}, {"s"}).node("Div", {"x", "s"}, {"q"});
  m.node("Mul", {"q", "scale"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_layer_norm, m)), "ChannelNormalization Mul");
}

TEST(FuseLayerNorm, WhatElseIsReadStays) {
  OnnxModel m = with_moments(true);
  m.node("Div", {"d", "s"}, {"q"}).node("Mul", {"q", "scale"}, {"y"}).output("y").output("q");
  const std::string text = types(after(fuse_layer_norm, m));
  EXPECT_EQ(text, "LayerNormalization Mul");
}

TEST(FuseLayerNorm, AnotherDeviationIsNone) {
  OnnxModel m = with_moments(true);
  m.node("Div", {"x", "s"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_layer_norm, m)).find("LayerNormalization"), std::string::npos);
}

TEST(FuseLayerNorm, ScaleThatVariesElsewhereStaysApart) {
  OnnxModel m = with_moments(true);
  m.initializer("rows", random_tensor({5, 1}, 3)).node("Div", {"d", "s"}, {"q"});
  m.node("Mul", {"q", "rows"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_layer_norm, m)), "LayerNormalization Mul");
}

OnnxModel with_exponentials(bool less_maximum, int64_t sum_axis) {
  OnnxModel m;
  m.input("x", {2, 5, 6});
  if (less_maximum)
    m.node("ReduceMax", {"x"}, {"m"}, attributes({{"axes", Attributes::Ints{1}}}))
        .node("Sub", {"x", "m"}, {"t"});
  m.node("Exp", {less_maximum ? "t" : "x"}, {"e"});
  m.initializer("axis", HostTensor::i64({1}, std::vector<int64_t>{sum_axis}))
      .node("ReduceSum", {"e", "axis"}, {"s"});
  m.node("Div", {"e", "s"}, {"y"}).output("y");
  return m;
}

TEST(FuseSoftmax, WithAndWithoutTheMaximum) {
  for (const bool less_maximum : {true, false})
    EXPECT_EQ(types(after(fuse_softmax, with_exponentials(less_maximum, 1))), "Softmax");
}

TEST(FuseSoftmax, MaximumAlongAnotherAxisStays) {
  EXPECT_EQ(types(after(fuse_softmax, with_exponentials(true, 2))), "ReduceMax Sub Softmax");
}

}  // namespace
}  // namespace vellum::test
