// Sums of convolutions of one tensor.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

Attributes window(int64_t group, Ints pads, int64_t stride = 1, int64_t dilation = 1) {
  const size_t axes = pads.size() / 2;
  return attributes({{"group", group},
                     {"pads", std::move(pads)},
                     {"strides", Ints(axes, stride)},
                     {"dilations", Ints(axes, dilation)}});
}

// Adds a convolution of x; the name's length seeds its weights and bias.
void convolve(OnnxModel& m, const std::string& name, Shape weights, const Attributes& attrs,
              bool bias = true) {
  const auto seed = static_cast<uint32_t>(10 * name.size());
  std::vector<std::string> inputs{"x", name + "_w"};
  const Shape channels{weights[0]};
  m.initializer(inputs[1], random_tensor(std::move(weights), seed));
  if (bias) m.initializer(inputs.emplace_back(name + "_b"), random_tensor(channels, seed + 1));
  m.node("Conv", inputs, {name}, attrs);
}

void normalise(OnnxModel& m, int64_t channels) {
  m.initializer("gamma", random_tensor({channels}, 4)).initializer("beta", random_tensor({channels}, 5));
  m.initializer("mean", random_tensor({channels}, 6));
  m.initializer("variance", random_tensor({channels}, 7, 0.1f, 2.0f));
  m.node("BatchNormalization", {"x", "gamma", "beta", "mean", "variance"}, {"skip"});
}

std::string merged(OnnxModel& m) {
  return types(after(merge_convolutions, m.node("Relu", {"sum"}, {"y"}).output("y")));
}

// RepVGG's block: windows of nine pixels and of one, and the tensor itself.
TEST(MergeConvolutions, WindowsOfPixelsAndNormalisedInput) {
  for (const int64_t group : {1, 2, 6}) {
    OnnxModel m;
    m.input("x", {2, 6, 5, 7});
    convolve(m, "nine", {6, 6 / group, 3, 3}, window(group, {1, 1, 1, 1}));
    convolve(m, "one", {6, 6 / group, 1, 1}, window(group, {0, 0, 0, 0}), false);
    normalise(m, 6);
    m.node("Add", {"one", "nine"}, {"both"}).node("Add", {"skip", "both"}, {"sum"});
    EXPECT_EQ(merged(m), "Conv Relu") << group;
  }
}

// The sum of two grids of integers would be floats: 64 * 64 * 9 weights of a picture with 3 * 3 or 60 * 60
// pixels.
TEST(MergeConvolutions, ManyIntegersOfSmallPicturesStayApart) {
  for (const bool is_small : {true, false})
    for (const bool has_integers : {true, false}) {
      const int64_t size = is_small ? 3 : 60;
      OnnxModel m;
      m.input("x", {1, 64, size, size});
      convolve(m, "nine", {64, 64, 3, 3}, window(1, {1, 1, 1, 1}));
      convolve(m, "one", {64, 64, 1, 1}, window(1, {0, 0, 0, 0}));
      m.node("Add", {"one", "nine"}, {"sum"}).node("Relu", {"sum"}, {"y"}).output("y");
      const Graph graph = after(
          [&](Graph& made) {
            made.has_integer_weights = has_integers;
            merge_convolutions(made);
          },
          m);
      EXPECT_EQ(types(graph), is_small && has_integers ? "Conv Conv Add Relu" : "Conv Relu");
    }
}

TEST(MergeConvolutions, StridesAndOtherNumbersOfChannels) {
  OnnxModel m;
  m.input("x", {1, 4, 9, 8});
  convolve(m, "nine", {10, 2, 3, 3}, window(2, {1, 1, 1, 1}, 2));
  convolve(m, "one", {10, 2, 1, 1}, window(2, {0, 0, 0, 0}, 2));
  EXPECT_EQ(merged(m.node("Add", {"nine", "one"}, {"sum"})), "Conv Relu");
}

// A row and a column inside a square, dilated windows inside one another, windows beside the middle.
TEST(MergeConvolutions, WindowsInsideOthers) {
  struct Case {
    Shape outer, inner;
    Ints outer_pads, inner_pads;
    int64_t dilation;
  };
  for (const Case& c : {Case{{5, 3, 3, 3}, {5, 3, 1, 3}, {1, 1, 1, 1}, {0, 1, 0, 1}, 1},
                        Case{{5, 3, 3, 3}, {5, 3, 3, 1}, {1, 1, 1, 1}, {1, 0, 1, 0}, 1},
                        Case{{5, 3, 5, 5}, {5, 3, 3, 3}, {4, 4, 4, 4}, {2, 2, 2, 2}, 2},
                        Case{{5, 3, 2, 2}, {5, 3, 1, 1}, {1, 1, 0, 0}, {0, 0, 0, 0}, 1},
                        Case{{5, 3, 2, 2}, {5, 3, 1, 1}, {0, 0, 1, 1}, {0, 0, 0, 0}, 1}}) {
    OnnxModel m;
    m.input("x", {1, 3, 9, 8});
    convolve(m, "outer_window", c.outer, window(1, c.outer_pads, 1, c.dilation));
    convolve(m, "inner", c.inner, window(1, c.inner_pads, 1, c.dilation));
    EXPECT_EQ(merged(m.node("Add", {"outer_window", "inner"}, {"sum"})), "Conv Relu");
  }
}

// FastViT's x - norm(x), RepViT's x + conv(x), in either order.
TEST(MergeConvolutions, DifferencesAndTheTensorItself) {
  const auto types_of = [](const std::string& type, const std::vector<std::string>& operands) {
    OnnxModel m;
    m.input("x", {2, 6, 5, 7});
    convolve(m, "nine", {6, 1, 3, 3}, window(6, {1, 1, 1, 1}));
    if (operands[0] == "skip" || operands[1] == "skip") normalise(m, 6);
    return merged(m.node(type, operands, {"sum"}));
  };
  for (const std::string type : {"Add", "Sub"})
    for (const std::string other : {"skip", "x"}) {
      EXPECT_EQ(types_of(type, {"nine", other}), "Conv Relu");
      EXPECT_EQ(types_of(type, {other, "nine"}), "Conv Relu");
    }
}

TEST(MergeConvolutions, ChainsWithNormalisationsBetween) {
  OnnxModel m;
  m.input("x", {2, 6, 5, 7}).initializer("layer_scale", random_tensor({6, 1, 1}, 9));
  convolve(m, "nine", {6, 1, 3, 3}, window(6, {1, 1, 1, 1}));
  normalise(m, 6);
  m.node("Sub", {"nine", "skip"}, {"d"})
      .node("Mul", {"d", "layer_scale"}, {"s"})
      .node("Add", {"x", "s"}, {"y"})
      .output("y");
  const auto all = [](Graph& graph) { graph = optimise(std::move(graph), {}); };
  EXPECT_EQ(types(after(all, m)), "Conv");
}

TEST(MergeConvolutions, OneAxisAndThree) {
  OnnxModel one;
  one.input("x", {2, 4, 11});
  convolve(one, "five", {4, 1, 5}, window(4, {2, 2}));
  normalise(one, 4);
  EXPECT_EQ(merged(one.node("Add", {"five", "skip"}, {"sum"})), "Conv Relu");
  OnnxModel three;
  three.input("x", {1, 4, 5, 4, 3});
  convolve(three, "cube", {4, 4, 3, 3, 3}, window(1, {1, 1, 1, 1, 1, 1}));
  convolve(three, "pixel", {4, 4, 1, 1, 1}, window(1, {0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(merged(three.node("Add", {"cube", "pixel"}, {"sum"})), "Conv Relu");
}

TEST(MergeConvolutions, WhatDoesNotFitStays) {
  const auto pair = [](Shape second, const Attributes& attrs) {
    OnnxModel m;
    m.input("x", {1, 4, 9, 8});
    convolve(m, "nine", {4, 4, 3, 3}, window(1, {1, 1, 1, 1}));
    convolve(m, "b", std::move(second), attrs);
    return merged(m.node("Add", {"nine", "b"}, {"sum"}));
  };
  EXPECT_EQ(pair({4, 2, 1, 1}, window(2, {0, 0, 0, 0})), "Conv Conv Add Relu") << "other groups";
  EXPECT_EQ(pair({4, 4, 3, 3}, window(1, {2, 2, 2, 2}, 1, 2)), "Conv Conv Add Relu") << "taps between taps";
  EXPECT_EQ(pair({4, 4, 3, 1}, window(1, {2, 0, 0, 0})), "Conv Conv Add Relu") << "taps beyond the others";
}

TEST(MergeConvolutions, OtherInputsAndReadersStay) {
  OnnxModel two;
  two.input("x", {1, 4, 9, 8}).input("z", {1, 4, 9, 8}).initializer("w", random_tensor({4, 4, 1, 1}, 1));
  convolve(two, "nine", {4, 4, 3, 3}, window(1, {1, 1, 1, 1}));
  two.node("Conv", {"z", "w"}, {"other"}).node("Add", {"nine", "other"}, {"sum"});
  EXPECT_EQ(merged(two), "Conv Conv Add Relu");
  OnnxModel read;
  read.input("x", {1, 4, 9, 8});
  convolve(read, "nine", {4, 4, 3, 3}, window(1, {1, 1, 1, 1}));
  convolve(read, "one", {4, 4, 1, 1}, window(1, {0, 0, 0, 0}));
  read.node("Add", {"nine", "one"}, {"sum"}).output("one");
  EXPECT_EQ(merged(read), "Conv Conv Add Relu");
}

TEST(MergeConvolutions, HalvesThatWouldOverflowStay) {
  const auto half = [](float value) {
    return HostTensor::from<float>(DType::f16, {1, 1, 1, 1}, std::vector<float>{value});
  };
  OnnxModel m;
  m.input("x", {1, 1, 2, 2}, DType::f16).initializer("a", half(60000.0f)).initializer("b", half(60000.0f));
  m.node("Conv", {"x", "a"}, {"c"})
      .node("Conv", {"x", "b"}, {"d"})
      .node("Add", {"c", "d"}, {"y"})
      .output("y");
  Graph graph = m.graph();
  infer_shapes_and_fold(graph, {});
  merge_convolutions(graph);
  EXPECT_EQ(types(graph), "Conv Conv Add");
}

}  // namespace
}  // namespace vellum::test
