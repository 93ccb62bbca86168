// Operators on images in N, H, W, C move to the other side of the transpositions around them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

const Attributes kToLast = attributes({{"perm", Attributes::Ints{0, 2, 3, 1}}});
const Attributes kToFirst = attributes({{"perm", Attributes::Ints{0, 3, 1, 2}}});

HostTensor floats(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.25f * static_cast<float>(i) - 1;
  return HostTensor::f32(shape, values);
}

// Moved, and what then cancels taken away.
std::string types_after_moving(const OnnxModel& model) {
  const auto move = [](Graph& graph) {
    move_transposes(graph);
    merge_reshapes(graph);
    remove_identities(graph);
  };
  return types(after(move, model));
}

// image -> Neg -> to N, H, W, C: "a" with 5 x 4 pixels of 3 channels.
OnnxModel channels_last_model() {
  OnnxModel model;
  model.input("x", {2, 3, 5, 4}).node("Neg", {"x"}, {"n"}).node("Transpose", {"n"}, {"a"}, kToLast);
  return model;
}

TEST(MoveTransposes, ElementwiseBetweenTwoThatCancel) {
  OnnxModel model = channels_last_model();
  model.initializer("per_channel", floats({3}))
      .initializer("image", floats({1, 5, 4, 3}))
      .initializer("one", floats({1}))
      .node("Relu", {"a"}, {"b"})
      .node("Add", {"b", "per_channel"}, {"c"})
      .node("Mul", {"image", "c"}, {"d"})
      .node("PRelu", {"d", "per_channel"}, {"e"})
      .node("Max", {"e", "one"}, {"f"})
      .node("Transpose", {"f"}, {"g"}, kToFirst)
      .node("Neg", {"g"}, {"y"})
      .output("y");
  EXPECT_EQ(types_after_moving(model), "Neg Relu Add Mul PRelu Max Neg");
}

TEST(MoveTransposes, ConcatPadAndReductionsTurnTheirAxes) {
  OnnxModel model = channels_last_model();
  model.initializer("pads", HostTensor::i64({8}, std::vector<int64_t>{0, 1, 2, 0, 0, 0, -1, 1}))
      .initializer("fill", HostTensor::f32({}, std::vector<float>{7}))
      .initializer("more", floats({2, 5, 4, 2}))
      .node("Concat", {"a", "more", "a"}, {"b"}, attributes({{"axis", int64_t{-1}}}))
      .node("Pad", {"b", "pads", "fill"}, {"c"})
      .node("ReduceMean", {"c"}, {"d"}, attributes({{"axes", Attributes::Ints{1, 2}}}))
      .node("Sub", {"c", "d"}, {"e"})
      .node("Transpose", {"e"}, {"y"}, kToFirst)
      .output("y");
  EXPECT_EQ(types_after_moving(model), "Neg Concat Pad ReduceMean Sub");
}

TEST(MoveTransposes, ScaledInputOfAConvolution) {
  OnnxModel model;
  model.input("x", {1, 6, 6, 3})
      .initializer("scale", floats({3}))
      .initializer("weights", floats({2, 3, 3, 3}))
      .node("Mul", {"x", "scale"}, {"a"})
      .node("Transpose", {"a"}, {"b"}, kToFirst)
      .node("Conv", {"b", "weights"}, {"y"})
      .output("y");
  EXPECT_EQ(types_after_moving(model), "Transpose Mul Conv");
}

TEST(MoveTransposes, ActivationComesToItsConvolution) {
  OnnxModel model;
  model.input("x", {1, 3, 6, 6})
      .initializer("weights", floats({2, 3, 3, 3}))
      .node("Conv", {"x", "weights"}, {"a"})
      .node("Transpose", {"a"}, {"b"}, kToLast)
      .node("Sigmoid", {"b"}, {"c"})
      .node("Mul", {"b", "c"}, {"y"})  // both read the transposition
      .output("y");
  EXPECT_EQ(types_after_moving(model), "Conv Sigmoid Mul Transpose");
}

TEST(MoveTransposes, ValueThatIsAlsoReadInItsOwnOrderIsTransposedOnce) {
  OnnxModel model = channels_last_model();
  model.initializer("shape", HostTensor::i64({2}, std::vector<int64_t>{2, 60}))
      .node("Relu", {"a"}, {"b"})
      .node("Reshape", {"b", "shape"}, {"flat"})
      .node("Transpose", {"b"}, {"c"}, kToFirst)
      .node("Neg", {"c"}, {"y"})
      .output("flat")
      .output("y");
  EXPECT_EQ(types_after_moving(model), "Neg Relu Transpose Reshape Neg");
}

TEST(MoveTransposes, OutputsOfTheRegionKeepNamesAndOrder) {
  OnnxModel model = channels_last_model();
  model.node("Relu", {"a"}, {"b"})
      .node("Exp", {"b"}, {"y"})
      .node("Transpose", {"b"}, {"c"}, kToFirst)
      .node("Neg", {"c"}, {"z"})
      .output("y")
      .output("z");
  EXPECT_EQ(types_after_moving(model), "Neg Relu Exp Transpose Neg");
}

// A block of ConvNeXt: normalised over channels, two products with constant matrices, a scale for each
// channel.
OnnxModel channels_last_block() {
  OnnxModel model;
  model.input("x", {2, 3, 5, 4})
      .initializer("kernel", floats({3, 1, 3, 3}))
      .initializer("scale", floats({3}))
      .initializer("bias", floats({3}))
      .initializer("wide", floats({3, 6}))
      .initializer("wide_bias", floats({6}))
      .initializer("narrow", floats({6, 3}))
      .initializer("layer_scale", floats({3, 1, 1}))
      .node("Conv", {"x", "kernel"}, {"a"},
            attributes({{"group", int64_t{3}}, {"pads", Attributes::Ints{1, 1, 1, 1}}}))
      .node("Transpose", {"a"}, {"b"}, kToLast)
      .node("LayerNormalization", {"b", "scale", "bias"}, {"c"})
      .node("MatMul", {"c", "wide"}, {"d"})
      .node("Add", {"d", "wide_bias"}, {"e"})
      .node("Relu", {"e"}, {"f"})
      .node("MatMul", {"f", "narrow"}, {"g"})
      .node("Transpose", {"g"}, {"h"}, kToFirst)
      .node("Mul", {"h", "layer_scale"}, {"i"})
      .node("Add", {"x", "i"}, {"y"})
      .output("y");
  return model;
}

TEST(MoveTransposes, LayersOverChannelsAndTheirProducts) {
  EXPECT_EQ(types_after_moving(channels_last_block()),
            "Conv ChannelNormalization Conv Add Relu Conv Mul Add");
  const auto all = [](Graph& graph) { graph = optimise(graph, {}); };
  EXPECT_EQ(types(after(all, channels_last_block())), "Conv ChannelNormalization Conv Conv");
}

TEST(MoveTransposes, LayersOverOtherDimensionsAndComputedMatricesStay) {
  OnnxModel plane = channels_last_model();
  plane.initializer("scale", floats({5, 4, 3}))
      .node("LayerNormalization", {"a", "scale"}, {"b"}, attributes({{"axis", int64_t{1}}}))
      .node("Transpose", {"b"}, {"y"}, kToFirst)
      .output("y");
  EXPECT_EQ(types_after_moving(plane), "Neg Transpose LayerNormalization Transpose");

  OnnxModel computed = channels_last_model();
  computed.input("matrix", {3, 2})
      .node("MatMul", {"a", "matrix"}, {"b"})
      .node("Transpose", {"b"}, {"y"}, kToFirst)
      .output("y");
  EXPECT_EQ(types_after_moving(computed), "Neg Transpose MatMul Transpose");
}

TEST(MoveTransposes, NothingMovesWhereThatTakesMoreOfThem) {
  OnnxModel inputs;
  inputs.input("a", {1, 4, 4, 2})
      .input("b", {1, 4, 4, 2})
      .initializer("weights", floats({2, 4, 1, 1}))
      .node("Concat", {"a", "b"}, {"c"}, attributes({{"axis", int64_t{3}}}))
      .node("Transpose", {"c"}, {"d"}, kToFirst)
      .node("Conv", {"d", "weights"}, {"y"})
      .output("y");
  EXPECT_EQ(types_after_moving(inputs), "Concat Transpose Conv");
}

// In attention the same permutation turns keys, and what stands beside it is recognised by its place.
TEST(MoveTransposes, OtherTensorsThanImagesStayWhereNothingIsGained) {
  OnnxModel model;
  model.input("k", {1, 6, 2, 4})
      .input("q", {1, 2, 6, 4})
      .initializer("scale", floats({1}))
      .node("Transpose", {"k"}, {"kt"}, kToLast)
      .node("Mul", {"kt", "scale"}, {"ks"})
      .node("MatMul", {"q", "ks"}, {"y"})
      .output("y");
  EXPECT_EQ(types_after_moving(model), "Transpose Mul MatMul");
}

TEST(MoveTransposes, OperatorsThatDependOnTheOrderStay) {
  OnnxModel model = channels_last_model();
  model.initializer("shape", HostTensor::i64({4}, std::vector<int64_t>{2, 4, 5, 3}))
      .node("Reshape", {"a", "shape"}, {"b"})
      .node("Transpose", {"b"}, {"c"}, kToFirst)
      .node("Neg", {"c"}, {"y"})
      .output("y");
  EXPECT_EQ(types_after_moving(model), "Neg Transpose Reshape Transpose Neg");
}

}  // namespace
}  // namespace vellum::test
