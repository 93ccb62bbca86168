// Activations that a model spells out become one operator.
#include <gtest/gtest.h>

#include <string>
#include <vector>

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

TEST(FuseActivationPatterns, WhatSomeoneElseReadsStays) {
  OnnxModel model = with_scalars();
  model.node("Sigmoid", {"x"}, {"s"}).node("Mul", {"s", "x"}, {"y"}).output("s").output("y");
  EXPECT_EQ(types(after(fuse_activation_patterns, model)), "Sigmoid Silu");
}

}  // namespace
}  // namespace vellum::test
