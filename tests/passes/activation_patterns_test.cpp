// Activations that a model spells out become one operator.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/operators/elementwise/unary.hpp"
#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

OnnxModel with_scalars() {
  OnnxModel model;
  model.input("x", {2, 3, 4});
  const auto scalar = [&](const char* name, float value) {
    model.initializer(name, HostTensor::f32({}, std::vector<float>{value}));
  };
  scalar("root", 1.41421356f);
  scalar("inverse", 0.70710678f);
  scalar("one", 1.0f);
  scalar("half", 0.5f);
  scalar("two", 2.0f);
  return model;
}

TEST(FuseActivationPatterns, Silu) {
  OnnxModel model = with_scalars();
  model.node("Sigmoid", {"x"}, {"s"}).node("Mul", {"s", "x"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_activation_patterns, model)), "Silu");
}

TEST(FuseActivationPatterns, TheSigmoidOfAnotherTensorIsNoSilu) {
  OnnxModel model = with_scalars();
  model.input("z", {2, 3, 4}).node("Sigmoid", {"z"}, {"s"}).node("Mul", {"x", "s"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_activation_patterns, model)), "Sigmoid Mul");
}

TEST(FuseActivationPatterns, HardSwishOnlyWithItsSlope) {
  for (const float slope : {1.0f / 6, 0.2f}) {
    OnnxModel model = with_scalars();
    model.node("HardSigmoid", {"x"}, {"s"}, attributes({{"alpha", slope}, {"beta", 0.5f}}));
    model.node("Mul", {"x", "s"}, {"y"}).output("y");
    EXPECT_EQ(types(after(fuse_activation_patterns, model)), slope == 0.2f ? "HardSigmoid Mul" : "HardSwish");
  }
}

TEST(FuseActivationPatterns, GeluWithTheHalfLast) {
  OnnxModel model = with_scalars();
  model.node("Div", {"x", "root"}, {"a"}).node("Erf", {"a"}, {"b"}).node("Add", {"b", "one"}, {"c"});
  model.node("Mul", {"x", "c"}, {"d"}).node("Mul", {"d", "half"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_activation_patterns, model)), "Gelu");
}

TEST(FuseActivationPatterns, GeluWithTheHalfInAFactor) {
  for (const bool with_sum : {false, true}) {
    OnnxModel model = with_scalars();
    model.node("Mul", {"inverse", "x"}, {"a"}).node("Erf", {"a"}, {"b"}).node("Add", {"one", "b"}, {"c"});
    model.node(with_sum ? "Mul" : "Div", {with_sum ? "c" : "x", with_sum ? "half" : "two"}, {"d"});
    model.node("Mul", {"d", with_sum ? "x" : "c"}, {"y"}).output("y");
    EXPECT_EQ(types(after(fuse_activation_patterns, model)), "Gelu");
  }
}

TEST(FuseActivationPatterns, AnotherScaleIsNoGelu) {
  OnnxModel model = with_scalars();
  model.node("Div", {"x", "two"}, {"a"}).node("Erf", {"a"}, {"b"}).node("Add", {"b", "one"}, {"c"});
  model.node("Mul", {"x", "c"}, {"d"}).node("Mul", {"d", "half"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_activation_patterns, model)), "Div Erf Add Mul Mul");
}

TEST(FuseActivationPatterns, GeluByTanh) {
  for (const std::string form : {"power", "square", "jax"}) {
    OnnxModel model = with_scalars();
    const auto scalar = [&](const char* name, float value) {
      model.initializer(name, HostTensor::f32({}, std::vector<float>{value}));
    };
    scalar("three", 3.0f);
    scalar("cubic", 0.044715f);
    scalar("slope", 0.79788456f);
    if (form == "power")
      model.node("Pow", {"x", "three"}, {"cube"}).node("Mul", {"cubic", "cube"}, {"a"});
    else if (form == "square")
      model.node("Mul", {"x", "x"}, {"square"})
          .node("Mul", {"x", "square"}, {"cube"})
          .node("Mul", {"cubic", "cube"}, {"a"});
    else
      model.node("Mul", {"cubic", "x"}, {"s"}).node("Mul", {"x", "s"}, {"t"}).node("Mul", {"x", "t"}, {"a"});
    model.node("Add", {"x", "a"}, {"b"}).node("Mul", {"b", "slope"}, {"c"});
    model.node("Tanh", {"c"}, {"d"}).node("Add", {"d", "one"}, {"e"}).node("Mul", {"x", "half"}, {"h"});
    model.node("Mul", {"h", "e"}, {"y"}).output("y");
    const Graph graph = after(fuse_activation_patterns, model);
    EXPECT_EQ(types(graph), "Gelu");
    EXPECT_EQ(dynamic_cast<const Unary&>(*graph.nodes[0].op).activation.kind, ActivationKind::gelu_tanh);
  }
}

// x * clip(x + 3, 0, 6) / 6 in its three orders, and the gate alone.
TEST(FuseActivationPatterns, HardSwishWithAClip) {
  for (const std::string form : {"last", "gate", "x", "alone"}) {
    OnnxModel model = with_scalars();
    model.initializer("three", HostTensor::f32({}, std::vector<float>{3.0f}));
    model.initializer("zero", HostTensor::f32({}, std::vector<float>{0.0f}));
    model.initializer("six", HostTensor::f32({}, std::vector<float>{6.0f}));
    model.node("Add", {"x", "three"}, {"a"}).node("Clip", {"a", "zero", "six"}, {"c"});
    if (form == "last") model.node("Mul", {"x", "c"}, {"m"}).node("Div", {"m", "six"}, {"y"});
    if (form == "gate") model.node("Div", {"c", "six"}, {"g"}).node("Mul", {"x", "g"}, {"y"});
    if (form == "x") model.node("Div", {"x", "six"}, {"g"}).node("Mul", {"g", "c"}, {"y"});
    if (form == "alone") model.node("Div", {"c", "six"}, {"y"});
    model.output("y");
    const std::string want = form == "alone" ? "HardSigmoid" : form == "x" ? "Add Clip Div Mul" : "HardSwish";
    EXPECT_EQ(types(after(fuse_activation_patterns, model)), want) << form;
  }
}

TEST(FuseActivationPatterns, WhatSomeoneElseReadsStays) {
  OnnxModel model = with_scalars();
  model.node("Sigmoid", {"x"}, {"s"}).node("Mul", {"s", "x"}, {"y"}).output("s").output("y");
  EXPECT_EQ(types(after(fuse_activation_patterns, model)), "Sigmoid Silu");
}

}  // namespace
}  // namespace vellum::test
