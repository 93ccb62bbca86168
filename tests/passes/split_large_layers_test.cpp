// Layers with more weights than a budget, in parts of their output channels.
#include "passes/split_large_layers.hpp"

#include <gtest/gtest.h>

#include <string>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/matmul/block_product.hpp"
#include "graph/operators/movement/block_gather.hpp"
#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

// The model's graph, split into parts of at most `most_bytes`.
Graph split(const OnnxModel& model, uint64_t most_bytes) {
  return after([&](Graph& graph) { split_large_layers(graph, {most_bytes, most_bytes / 2}, 4); }, model);
}

OnnxModel with_large_conv(const Attributes& attrs = {}, const Shape& weights = {20, 6, 3, 3}) {
  OnnxModel model;
  model.input("x", {1, 6, 7, 5}).initializer("w", random_tensor(weights, 1));
  model.initializer("b", random_tensor({weights[0]}, 2));
  return std::move(model.node("Conv", {"x", "w", "b"}, {"y"}, attrs, "conv").output("y"));
}

// Four channels take 4 * (9 * 8 + 8) floats, for kernels hold the six input channels in eight.
constexpr uint64_t kFourChannels = 4 * 80 * 4;

TEST(SplitLargeLayers, ConvolutionsIntoPartsThatFitInPairs) {
  const Graph graph = split(with_large_conv(), 4 * kFourChannels);
  EXPECT_EQ(types(graph), "Conv Conv Conv Concat");
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(graph.nodes[i].name, "conv/part" + std::to_string(i));
  EXPECT_EQ(graph.nodes[3].name, "conv");
  EXPECT_EQ(graph.values[graph.nodes[0].outputs[0]].type.shape, (Shape{1, 8, 5, 3}));
  EXPECT_EQ(graph.values[graph.nodes[2].outputs[0]].type.shape, (Shape{1, 4, 5, 3}));
}

TEST(SplitLargeLayers, IntoPartsThatAreAsEqualAsFoursOfChannelsAllow) {
  const LayerLimits four_groups{4 * kFourChannels, 4 * kFourChannels};
  const auto channels_of_parts = [&](int64_t channels) {
    const Graph graph = after([&](Graph& g) { split_large_layers(g, four_groups, 4); },
                              with_large_conv({}, {channels, 6, 3, 3}));
    Shape parts;
    for (const ValueId id : graph.nodes.back().inputs) parts.push_back(graph.values[id].type.shape[1]);
    return parts;
  };
  EXPECT_EQ(channels_of_parts(36), (Shape{12, 12, 12}));
  EXPECT_EQ(channels_of_parts(38), (Shape{16, 16, 6}));
  EXPECT_EQ(channels_of_parts(17), (Shape{12, 5}));
}

TEST(SplitLargeLayers, WithoutCopyingWeightsThatLieTogether) {
  const Graph before = with_large_conv().graph();
  Graph graph = before;
  infer_shapes_and_fold(graph, {});
  split_large_layers(graph, {4 * kFourChannels, 2 * kFourChannels}, 4);
  const HostTensor* whole = before.constant(before.nodes[0].inputs[1]);
  const HostTensor* part = graph.constant(graph.nodes[1].inputs[1]);
  EXPECT_EQ(part->data(), whole->data() + 8 * 54 * 4);
}

TEST(SplitLargeLayers, ProductsAlongTheirColumns) {
  for (const bool transposed : {false, true}) {
    OnnxModel model;
    model.input("x", {3, 9}).initializer("w", random_tensor(transposed ? Shape{22, 9} : Shape{9, 22}, 1));
    model.initializer("b", random_tensor({1, 22}, 2));
    model.node("Gemm", {"x", "w", "b"}, {"y"}, attributes({{"transB", int64_t{transposed}}}), "gemm")
        .output("y");
    EXPECT_EQ(types(split(model, 1000)), "Gemm Gemm Gemm Gemm Gemm Gemm Concat") << transposed;
  }
  OnnxModel model;
  model.input("x", {2, 3, 9}).initializer("w", random_tensor({9, 12}, 1));
  model.node("MatMul", {"x", "w"}, {"y"}, {}, "product").output("y");
  EXPECT_EQ(types(split(model, 800)), "MatMul MatMul MatMul Concat");
}

TEST(SplitLargeLayers, KeepsBiasesOfOneValue) {
  OnnxModel model;
  model.input("x", {3, 8})
      .initializer("w", random_tensor({8, 16}, 1))
      .initializer("b", random_tensor({1}, 2));
  model.node("Gemm", {"x", "w", "b"}, {"y"}).output("y");
  EXPECT_EQ(types(split(model, 600)), "Gemm Gemm Gemm Gemm Concat");
}

TEST(SplitLargeLayers, ResidualsOfProductsAreAddedToTheWhole) {
  OnnxModel model;
  model.input("x", {3, 8}).input("r", {3, 16}).initializer("w", random_tensor({8, 16}, 1));
  model.node("Gemm", {"x", "w"}, {"p"}).node("Add", {"p", "r"}, {"s"}).node("Relu", {"s"}, {"y"}).output("y");
  const Graph graph = after(
      [](Graph& g) {
        fuse_residual(g);
        fuse_activations(g);
        split_large_layers(g, {600, 300}, 4);
      },
      model);
  EXPECT_EQ(types(graph), "Gemm Gemm Gemm Gemm Concat Add");
}

// x * scale, a 1x1 convolution of that, and perhaps a residual, all fused into one.
OnnxModel with_scale(const Shape& residual) {
  OnnxModel model;
  model.input("x", {1, 8, 5, 4}).input("s", {1, 8, 1, 1}).initializer("w", random_tensor({20, 8, 1, 1}, 1));
  model.node("Mul", {"x", "s"}, {"m"}).node("Conv", {"m", "w"}, {"c"}, {}, "conv");
  if (residual.empty()) return std::move(model.node("Relu", {"c"}, {"y"}).output("y"));
  model.input("r", residual).node("Add", {"c", "r"}, {"a"});
  return std::move(model.node("Relu", {"a"}, {"y"}).output("y"));
}

Graph split_of_fused(const OnnxModel& model, uint64_t most_bytes) {
  return after(
      [&](Graph& graph) {
        fuse_channel_scale(graph);
        fuse_residual(graph);
        fuse_activations(graph);
        split_large_layers(graph, {most_bytes, most_bytes / 2}, 4);
      },
      model);
}

TEST(SplitLargeLayers, ScalesOfChannelsComeToEachPart) {
  const Graph graph = split_of_fused(with_scale({}), 600);
  ASSERT_EQ(types(graph), "Conv Conv Conv Conv Conv Concat");
  for (size_t i = 0; i < 5; ++i) {
    ASSERT_EQ(graph.nodes[i].inputs.size(), 5u);
    EXPECT_EQ(graph.nodes[i].inputs[4], graph.inputs[1]);
  }
}

TEST(SplitLargeLayers, ResidualsOfConvolutionsAreAddedToTheWhole) {
  const Graph graph = split_of_fused(with_scale({1, 20, 5, 4}), 600);
  ASSERT_EQ(types(graph), "Conv Conv Conv Conv Conv Concat Add");
  EXPECT_EQ(graph.nodes[0].inputs[4], graph.inputs[1]);
  EXPECT_FALSE(dynamic_cast<const Conv&>(*graph.nodes[0].op).activation);
}

TEST(SplitLargeLayers, SqueezeAndExcitationIsTakenApart) {
  OnnxModel model;
  model.input("x", {2, 16, 5, 4})
      .initializer("w1", random_tensor({8, 16, 1, 1}, 1))
      .initializer("b1", random_tensor({8}, 2))
      .initializer("w2", random_tensor({16, 8, 1, 1}, 3));
  model.node("GlobalAveragePool", {"x"}, {"g"})
      .node("Conv", {"g", "w1", "b1"}, {"h"})
      .node("Relu", {"h"}, {"r"})
      .node("Conv", {"r", "w2"}, {"e"})
      .node("Sigmoid", {"e"}, {"s"})
      .node("Mul", {"x", "s"}, {"y"})
      .output("y");
  const auto split_block = [&](uint64_t most_bytes) {
    return after(
        [&](Graph& graph) {
          fuse_activations(graph);
          fuse_squeeze_excite(graph);
          split_large_layers(graph, {most_bytes, most_bytes / 2}, 4);
        },
        model);
  };
  EXPECT_EQ(types(split_block(1800)), "SqueezeExcite Mul");
  EXPECT_EQ(types(split_block(1100)), "GlobalAveragePool Conv Conv Mul");
  EXPECT_EQ(types(split_block(800)), "GlobalAveragePool Conv Conv Conv Conv Conv Concat Mul");
}

// A product with 22 columns of 4 bits, which take 16 bytes, scales and zero points 9 more, and the bias 4.
Graph with_packed_weights() {
  auto op = std::make_shared<BlockProduct>();
  op->weights.rows = 30, op->weights.columns = 22, op->weights.bits = 4, op->weights.block = 16;
  Graph graph;
  graph.inputs = {graph.add_value("x", {DType::f32, {2, 3, 30}}, true)};
  HostTensor packed(DType::u8, {22, 2, 8}), zeros(DType::u8, {22, 1});
  for (size_t i = 0; i < packed.byte_size(); ++i)
    packed.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(i * 37);
  for (size_t i = 0; i < zeros.byte_size(); ++i)
    zeros.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(i * 51);
  Node node{"product", std::move(op), {graph.inputs[0], graph.add_constant("w", packed)}, {}};
  node.inputs.push_back(graph.add_constant("s", random_tensor({44}, 2)));
  node.inputs.push_back(graph.add_constant("z", zeros));
  node.inputs.push_back(graph.add_constant("b", random_tensor({22}, 3)));
  node.outputs = {graph.add_value("y", {DType::f32, {2, 3, 22}}, true)};
  graph.outputs = node.outputs;
  graph.nodes.push_back(std::move(node));
  return graph;
}

TEST(SplitLargeLayers, ProductsWithPackedWeightsByTheirOwnBytes) {
  const Graph whole = with_packed_weights();
  Graph graph = whole;
  split_large_layers(graph, {22 * 29, 22 * 29}, 4);
  EXPECT_EQ(types(graph), "BlockProduct");
  split_large_layers(graph, {600, 300}, 4);
  EXPECT_EQ(types(graph), "BlockProduct BlockProduct BlockProduct Concat");
  const HostTensor* part = graph.constant(graph.nodes[1].inputs[1]);
  EXPECT_EQ(part->data(), whole.constant(whole.nodes[0].inputs[1])->data() + 8 * 16) << "nothing is copied";
  const HostTensor x = random_tensor({2, 3, 30}, 1);
  EXPECT_TRUE(close(evaluate(graph, std::vector{x})[0], evaluate(whole, std::vector{x})[0], 0.0));
}

TEST(SplitLargeLayers, LargeTablesStayInHostMemory) {
  Graph graph;
  graph.inputs = {graph.add_value("i", {DType::i64, {2}}, true)};
  auto op = std::make_shared<BlockGather>();
  op->bits = 8, op->block = 16;
  Node node{
      "rows", std::move(op), {graph.add_constant("t", HostTensor(DType::u8, {10, 16})), graph.inputs[0]}, {}};
  node.inputs.push_back(graph.add_constant("s", random_tensor({10, 1}, 1)));
  node.outputs = {graph.add_value("y", {DType::f32, {2, 16}}, true)};
  graph.outputs = node.outputs;
  graph.nodes.push_back(std::move(node));
  const auto on_host = [&](uint64_t table) {
    Graph split = graph;
    split_large_layers(split, {.table = table}, 4);
    return dynamic_cast<const BlockGather&>(*split.nodes[0].op).on_host;
  };
  EXPECT_FALSE(on_host(160));
  EXPECT_TRUE(on_host(159));
}

TEST(SplitLargeLayers, LeavesWhatFits) {
  EXPECT_EQ(types(split(with_large_conv(), 5 * kFourChannels)), "Conv");
}

TEST(SplitLargeLayers, LeavesWhatItCannotSplit) {
  EXPECT_EQ(types(split(with_large_conv(), 2 * kFourChannels - 1)), "Conv")
      << "not even four channels in half of it";
  EXPECT_EQ(types(split(with_large_conv(attributes({{"group", int64_t{2}}}), {20, 3, 3, 3}), 2000)), "Conv");
  OnnxModel computed_bias;
  computed_bias.input("x", {3, 8}).input("b", {16}).initializer("w", random_tensor({8, 16}, 1));
  computed_bias.node("Gemm", {"x", "w", "b"}, {"y"}).output("y");
  EXPECT_EQ(types(split(computed_bias, 600)), "Gemm");
  OnnxModel rest;
  rest.input("x", {2, 3, 8}).initializer("w", random_tensor({8, 18}, 1));
  rest.node("MatMul", {"x", "w"}, {"y"}).output("y");
  EXPECT_EQ(types(split(rest, 600)), "MatMul") << "18 columns are no fours, which another kernel multiplies";
}

}  // namespace
}  // namespace vellum::test
