// x + x * s before a 1x1 Conv, as in global response normalisation.
#include <gtest/gtest.h>

#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

// The product t of x, computed factors s and constant factors.
OnnxModel residual_scale() {
  OnnxModel model(13);
  model.input("x", {2, 8, 3, 5}).input("s", {2, 8, 1, 1});
  model.initializer("gamma", random_tensor({1, 8, 1, 1}, 1)).initializer("w", random_tensor({6, 8, 1, 1}, 2));
  model.initializer("beta", random_tensor({1, 8, 1, 1}, 3)).initializer("b", random_tensor({6}, 4));
  model.node("Mul", {"x", "s"}, {"p"}).node("Mul", {"gamma", "p"}, {"t"});
  return model;
}

Graph factored(OnnxModel model) {
  return after(
      [](Graph& graph) {
        factor_residual_scale(graph);
        fuse_channel_scale(graph);
      },
      model);
}

TEST(FactorResidualScale, IntoTheConvThatReadsIt) {
  OnnxModel model = residual_scale();
  model.node("Add", {"x", "t"}, {"h"}).node("Conv", {"h", "w", "b"}, {"y"}).output("y");
  EXPECT_EQ(types(factored(std::move(model))), "Mul Conv");
}

TEST(FactorResidualScale, OneFactor) {
  OnnxModel model(13);
  model.input("x", {2, 8, 3, 5}).input("s", {2, 8, 1, 1}).initializer("w", random_tensor({6, 8, 1, 1}, 2));
  model.node("Mul", {"s", "x"}, {"t"})
      .node("Add", {"t", "x"}, {"h"})
      .node("Conv", {"h", "w"}, {"y"})
      .output("y");
  EXPECT_EQ(types(factored(std::move(model))), "Add Conv");
}

TEST(FactorResidualScale, AConstantOfEachChannelBecomesABias) {
  for (const bool bias : {true, false}) {
    OnnxModel model = residual_scale();
    model.node("Add", {"beta", "t"}, {"u"}).node("Add", {"x", "u"}, {"h"});
    if (bias)
      model.node("Conv", {"h", "w", "b"}, {"y"}).output("y");
    else
      model.node("Conv", {"h", "w"}, {"y"}).output("y");
    EXPECT_EQ(types(factored(std::move(model))), "Mul Conv");
  }
}

TEST(FactorResidualScale, OtherReadersKeepTheSum) {
  OnnxModel model = residual_scale();
  model.node("Add", {"x", "t"}, {"h"}).node("Conv", {"h", "w", "b"}, {"y"}).output("y").output("h");
  EXPECT_EQ(types(factored(std::move(model))), "Mul Mul Add Conv");
  OnnxModel product = residual_scale();
  product.node("Add", {"x", "t"}, {"h"}).node("Conv", {"h", "w", "b"}, {"y"}).output("y").output("p");
  EXPECT_EQ(types(factored(std::move(product))), "Mul Mul Add Conv");
}

TEST(FactorResidualScale, FactorsOfPixelsStay) {
  OnnxModel model(13);
  model.input("x", {2, 8, 3, 5}).input("s", {2, 1, 3, 5}).initializer("w", random_tensor({6, 8, 1, 1}, 2));
  model.node("Mul", {"s", "x"}, {"t"})
      .node("Add", {"t", "x"}, {"h"})
      .node("Conv", {"h", "w"}, {"y"})
      .output("y");
  EXPECT_EQ(types(factored(std::move(model))), "Mul Add Conv");
}

}  // namespace
}  // namespace vellum::test
