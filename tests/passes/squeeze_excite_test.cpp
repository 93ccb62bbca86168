// Squeeze-and-excitation becomes one node, and the product with what it computes part of the convolution
// after it.
#include "graph/operators/reduction/squeeze_excite.hpp"

#include <gtest/gtest.h>

#include <array>

#include "graph/operators/conv/conv.hpp"
#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

struct Block {
  std::string pool = "GlobalAveragePool", gated = "x", last_conv = "Conv";
  Attributes pooling = {}, projection = {};
  Shape projection_weights = {5, 6, 1, 1};
  bool means_are_output = false;
};

// x gated by sigmoid(conv(relu(conv(mean(x))))), then a convolution.
OnnxModel block(const Block& with = {}) {
  OnnxModel model;
  model.input("x", {2, 6, 4, 5}).input("other", {2, 6, 4, 5});
  model.initializer("w1", random_tensor({3, 6, 1, 1}, 1)).initializer("b1", random_tensor({3}, 2));
  model.initializer("w2", random_tensor({6, 3, 1, 1}, 3))
      .initializer("w3", random_tensor(with.projection_weights, 4));
  model.node(with.pool, {"x"}, {"means"}, with.pooling);
  model.node("Conv", {"means", "w1", "b1"}, {"c1"}).node("Relu", {"c1"}, {"hidden"});
  model.node("Conv", {"hidden", "w2"}, {"c2"}).node("Sigmoid", {"c2"}, {"gate"});
  model.node("Mul", {"gate", with.gated}, {"product"});
  model.node("Conv", {"product", "w3"}, {"y"}, with.projection).output("y");
  if (with.means_are_output) model.output("means");
  return model;
}

void fuse(Graph& graph) {
  fuse_activations(graph);
  fuse_squeeze_excite(graph);
}

void fuse_all(Graph& graph) {
  fuse(graph);
  fuse_channel_scale(graph);
}

TEST(FuseSqueezeExcite, MeansAndTwoProducts) {
  const Graph graph = after(fuse, block());
  ASSERT_EQ(types(graph), "SqueezeExcite Mul Conv");
  const auto* op = dynamic_cast<const SqueezeExcite*>(graph.nodes[0].op.get());
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(op->hidden.kind, ActivationKind::relu);
  EXPECT_EQ(op->gate.kind, ActivationKind::sigmoid);
  EXPECT_EQ(op->macs(operator_inputs(graph, graph.nodes[0])), 2u * (6 * 3 + 3 * 6));
}

TEST(FuseSqueezeExcite, MeansHoweverTheyAreSpelt) {
  Block reduced{.pool = "ReduceMean"};
  reduced.pooling = attributes({{"axes", std::vector<int64_t>{2, 3}}});
  EXPECT_EQ(types(after(fuse_all, block(reduced))), "SqueezeExcite Conv");
  Block pooled{.pool = "AveragePool"};
  pooled.pooling = attributes({{"kernel_shape", std::vector<int64_t>{4, 5}}});
  EXPECT_EQ(types(after(fuse_all, block(pooled))), "SqueezeExcite Conv");
}

TEST(FuseSqueezeExcite, OnlyWhatGatesItsOwnInput) {
  EXPECT_EQ(types(after(fuse, block({.gated = "other"}))), "GlobalAveragePool Conv Conv Mul Conv");
}

TEST(FuseSqueezeExcite, OnlyMeansThatNothingElseReads) {
  EXPECT_EQ(types(after(fuse, block({.means_are_output = true}))), "GlobalAveragePool Conv Conv Mul Conv");
}

TEST(FuseSqueezeExcite, OnlyMeans) {
  EXPECT_EQ(types(after(fuse, block({.pool = "GlobalMaxPool"}))), "GlobalMaxPool Conv Conv Mul Conv");
}

TEST(FuseChannelScale, IntoThe1x1ConvolutionBehindIt) {
  const Graph graph = after(fuse_all, block());
  ASSERT_EQ(types(graph), "SqueezeExcite Conv");
  EXPECT_EQ(graph.nodes[1].inputs.size(), 5u);
}

TEST(FuseChannelScale, BesideAResidual) {
  OnnxModel model = block();
  model.input("r", {2, 5, 4, 5}).node("Add", {"y", "r"}, {"sum"}).output("sum");
  Graph graph = model.graph();
  graph.outputs = {graph.find_value("sum").value()};
  infer_shapes_and_fold(graph, {});
  const auto inputs = random_inputs(graph, 7, -3.0f, 3.0f);
  const Graph fused = optimise(graph, {});
  EXPECT_EQ(types(fused), "SqueezeExcite Conv");
  EXPECT_TRUE(close(evaluate(fused, inputs)[0], evaluate(graph, inputs)[0], 1e-5));
}

// x times a factor for each channel, rounded to 8 bits, then a convolution.
OnnxModel rounded_product() {
  OnnxModel model;
  model.input("x", {2, 6, 4, 5})
      .input("factors", {2, 6, 1, 1})
      .initializer("w", random_tensor({5, 6, 1, 1}, 1));
  model.initializer("step", HostTensor::f32({}, std::vector<float>{0.03f}))
      .initializer("zero", HostTensor::from<int64_t>(DType::u8, {}, std::array{int64_t{117}}));
  model.node("Mul", {"x", "factors"}, {"product"});
  model.node("QuantizeLinear", {"product", "step", "zero"}, {"integers"});
  model.node("DequantizeLinear", {"integers", "step", "zero"}, {"rounded"});
  model.node("Conv", {"rounded", "w"}, {"y"}).output("y");
  return model;
}

TEST(FuseChannelScale, WithTheRoundingOfProducts) {
  Graph graph = rounded_product().graph();
  infer_shapes_and_fold(graph, {});
  const Graph fused = optimise(graph, {});
  ASSERT_EQ(types(fused), "Conv");
  const auto* conv = dynamic_cast<const Conv*>(fused.nodes[0].op.get());
  EXPECT_EQ(conv->scaling.step, 0.03f);
  EXPECT_EQ(conv->scaling.least, -117.0f);
  EXPECT_EQ(conv->scaling.most, 138.0f);
  const auto inputs = random_inputs(graph, 7, -3.0f, 3.0f);
  EXPECT_EQ(evaluate(fused, inputs)[0].to_floats(), evaluate(graph, inputs)[0].to_floats());
}

TEST(FuseChannelScale, NotWithOtherFunctionsOfProducts) {
  OnnxModel model;
  model.input("x", {2, 6, 4, 5})
      .input("factors", {2, 6, 1, 1})
      .initializer("w", random_tensor({5, 6, 1, 1}, 1));
  model.node("Mul", {"x", "factors"}, {"product"}).node("Relu", {"product"}, {"positive"});
  model.node("Conv", {"positive", "w"}, {"y"}).output("y");
  EXPECT_EQ(types(optimise(model.graph(), {})), "Mul Conv");
}

TEST(FuseChannelScale, NotIntoWiderWindowsStridesOrGroups) {
  Block wide{.projection_weights = {5, 6, 3, 3}};
  EXPECT_EQ(types(after(fuse_all, block(wide))), "SqueezeExcite Mul Conv");
  Block strided;
  strided.projection = attributes({{"strides", std::vector<int64_t>{2, 2}}});
  EXPECT_EQ(types(after(fuse_all, block(strided))), "SqueezeExcite Mul Conv");
  Block groups{.projection_weights = {4, 3, 1, 1}};
  groups.projection = attributes({{"group", int64_t{2}}});
  EXPECT_EQ(types(after(fuse_all, block(groups))), "SqueezeExcite Mul Conv");
}

TEST(FuseChannelScale, OnlyFactorsOfWholeChannels) {
  OnnxModel model;
  model.input("x", {1, 6, 4, 5}).initializer("w", random_tensor({5, 6, 1, 1}, 1));
  model.input("columns", {1, 6, 1, 5}).node("Mul", {"x", "columns"}, {"product"});
  model.node("Conv", {"product", "w"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_all, model)), "Mul Conv");
}

}  // namespace
}  // namespace vellum::test
