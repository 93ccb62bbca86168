// Layers of pictures of one column become layers of sequences.
#include <gtest/gtest.h>

#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

struct Column {
  Shape x, w;
  Attributes attributes;
};

OnnxModel convolution(const Column& c) {
  OnnxModel m;
  m.input("x", c.x).initializer("w", random_tensor(c.w, 1)).initializer("b", random_tensor({c.w[0]}, 2));
  m.node("Conv", {"x", "w", "b"}, {"y"}, c.attributes).output("y");
  return m;
}

size_t rank_of_weights(const Graph& graph) {
  for (const Node& node : graph.nodes)
    if (node.op->type() == "Conv") return graph.values[node.inputs[1]].type.shape.size();
  return 0;
}

TEST(ColumnsToSequences, WindowsOfAllKinds) {
  const Column columns[] = {
      {{1, 5, 9, 1}, {4, 5, 3, 1}, {}},
      {{2, 5, 9, 1}, {4, 5, 3, 1}, attributes({{"pads", Ints{2, 0, 1, 0}}, {"strides", Ints{2, 1}}})},
      {{1, 6, 11, 1}, {6, 3, 2, 1}, attributes({{"group", int64_t{2}}, {"dilations", Ints{3, 1}}})},
      {{1, 4, 8, 1},
       {4, 1, 4, 1},
       attributes({{"group", int64_t{4}}, {"auto_pad", std::string("SAME_LOWER")}})},
      {{1, 4, 8, 1}, {3, 4, 3, 1}, attributes({{"strides", Ints{1, 5}}})}};
  for (const Column& c : columns) {
    const Graph graph = after(columns_to_sequences, convolution(c));
    EXPECT_EQ(types(graph), "Reshape Conv Reshape");
    EXPECT_EQ(rank_of_weights(graph), 3u);
  }
}

TEST(ColumnsToSequences, OtherPicturesStay) {
  const Column pictures[] = {
      {{1, 5, 9, 2}, {4, 5, 3, 1}, {}},
      {{1, 5, 9, 2}, {4, 5, 3, 2}, {}},
      {{1, 5, 9, 1}, {4, 5, 3, 3}, attributes({{"pads", Ints{0, 1, 0, 1}}})},
      {{1, 5, 9, 1}, {4, 5, 3, 1}, attributes({{"pads", Ints{0, 1, 0, 1}}})},
      {{1, 5, 9, 1}, {4, 5, 1, 1}, {}},   // kernels of one element take pixels as they come
      {{1, 5, 9, 1}, {4, 5, 9, 1}, {}}};  // one result
  for (const Column& c : pictures) EXPECT_EQ(types(after(columns_to_sequences, convolution(c))), "Conv");
}

TEST(ColumnsToSequences, ComputedWeightsStay) {
  OnnxModel m;
  m.input("x", {1, 5, 9, 1}).input("w", {4, 5, 3, 1}).node("Conv", {"x", "w"}, {"y"}).output("y");
  EXPECT_EQ(types(after(columns_to_sequences, m)), "Conv");
}

// The Reshapes at both ends are all that stays of the columns.
TEST(ColumnsToSequences, WhatConnectsConvolutionsFollows) {
  OnnxModel m;
  m.input("x", {1, 4, 16, 1}).initializer("w", random_tensor({4, 4, 3, 1}, 1));
  m.initializer("p", random_tensor({4, 4, 1, 1}, 2)).initializer("c", random_tensor({4, 1, 1}, 3));
  m.initializer("rows", random_tensor({14, 1}, 4)).initializer("half", random_tensor({}, 5));
  for (const char* name : {"scale", "bias", "mean"}) m.initializer(name, random_tensor({4}, 6));
  m.initializer("variance", random_tensor({4}, 7, 0.5f, 1.0f));
  m.node("Conv", {"x", "w"}, {"a"});
  m.node("BatchNormalization", {"a", "scale", "bias", "mean", "variance"}, {"n"});
  m.node("Relu", {"n"}, {"r"}).node("Mul", {"r", "c"}, {"s"}).node("Add", {"rows", "s"}, {"t"});
  m.node("Mul", {"t", "half"}, {"h"}).node("Conv", {"h", "p"}, {"q"}).node("Add", {"q", "a"}, {"d"});
  m.node("MaxPool", {"d"}, {"e"}, attributes({{"kernel_shape", Ints{3, 1}}, {"strides", Ints{2, 1}}}));
  m.node("Conv", {"e", "w"}, {"y"}).output("y");
  EXPECT_EQ(types(after(columns_to_sequences, m)),
            "Reshape Conv BatchNormalization Relu Mul Add Mul Conv Add MaxPool Conv Reshape");
}

TEST(ColumnsToSequences, OtherReadersReadColumns) {
  OnnxModel m;
  m.input("x", {1, 4, 9, 1}).input("wide", {1, 4, 7, 3}).initializer("w", random_tensor({4, 4, 3, 1}, 1));
  m.node("Conv", {"x", "w"}, {"a"}).node("Add", {"a", "wide"}, {"y"}).output("y");
  m.node("Softmax", {"a"}, {"z"}, attributes({{"axis", int64_t{1}}})).output("z").output("a");
  EXPECT_EQ(types(after(columns_to_sequences, m)), "Reshape Conv Reshape Add Softmax");
}

// As exporters of TensorFlow write a convolution of tokens.
TEST(ColumnsToSequences, AConvolutionInOneDimensionNeedsNoReshape) {
  OnnxModel m(13);
  m.input("x", {1, 9, 4}).initializer("axis", ints({3}));
  m.initializer("w", random_tensor({4, 4, 3, 1}, 1)).initializer("b", random_tensor({4, 1}, 2));
  m.node("Unsqueeze", {"x", "axis"}, {"u"});
  m.node("Transpose", {"u"}, {"t"}, attributes({{"perm", Ints{0, 2, 1, 3}}}));
  m.node("Conv", {"t", "w"}, {"a"}).node("Squeeze", {"a", "axis"}, {"s"}).node("Add", {"s", "b"}, {"d"});
  m.node("Relu", {"d"}, {"y"}).output("y");
  const auto all = [](Graph& graph) { graph = optimise(std::move(graph), {}); };
  EXPECT_EQ(types(after(all, m)), "AsStrided Conv");
}

}  // namespace
}  // namespace vellum::test
