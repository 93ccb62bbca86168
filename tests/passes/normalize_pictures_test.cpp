// Normalisations of tokens that were pictures.
#include <gtest/gtest.h>

#include "graph/operators/reduction/channel_norm.hpp"
#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

// t = Reshape(Transpose(x)): 12 tokens of five channels.
OnnxModel tokens() {
  OnnxModel m(17);
  m.input("x", {2, 5, 3, 4}).initializer("shape", ints({2, 12, 5}));
  m.initializer("scale", random_tensor({5}, 1)).initializer("bias", random_tensor({5}, 2));
  m.node("Transpose", {"x"}, {"p"}, attributes({{"perm", Ints{0, 2, 3, 1}}}));
  m.node("Reshape", {"p", "shape"}, {"t"});
  return m;
}

TEST(NormalizePictures, NormalisesChannelsBeforeTheTranspose) {
  OnnxModel m = tokens();
  m.node("LayerNormalization", {"t", "scale", "bias"}, {"n"}).node("Exp", {"n"}, {"y"}).output("y");
  EXPECT_EQ(types(after(normalize_pictures, m)), "ChannelNormalization Transpose Reshape Exp");
}

TEST(NormalizePictures, TakesTheActivation) {
  OnnxModel m = tokens();
  m.node("LayerNormalization", {"t", "scale"}, {"n"}).node("Relu", {"n"}, {"r"}).node("Exp", {"r"}, {"y"});
  const Graph graph = after(normalize_pictures, m.output("y"));
  ASSERT_EQ(types(graph), "ChannelNormalization Transpose Reshape Exp");
  EXPECT_EQ(dynamic_cast<const ChannelNormalization&>(*graph.nodes[0].op).activation.kind,
            ActivationKind::relu);
}

TEST(NormalizePictures, KeepsTokensThatAreReadElsewhere) {
  OnnxModel m = tokens();
  m.node("LayerNormalization", {"t", "scale", "bias"}, {"n"}).node("Add", {"n", "t"}, {"y"}).output("y");
  EXPECT_EQ(types(after(normalize_pictures, m)), "Transpose Reshape LayerNormalization Add");
}

// As in attention whose keys and values a convolution computes: queries are rows of a product, the others a
// picture again.
TEST(NormalizePictures, OfTokensThatBecomeAPictureAgain) {
  OnnxModel m = tokens();
  m.initializer("rows", ints({24, 5})).initializer("nhwc", ints({2, 3, 4, 5}));
  m.initializer("w", random_tensor({5, 6}, 3));
  m.node("LayerNormalization", {"t", "scale", "bias"}, {"n"}).node("Reshape", {"n", "rows"}, {"r"});
  m.node("Gemm", {"r", "w"}, {"q"}).node("Reshape", {"n", "nhwc"}, {"i"});
  m.node("Transpose", {"i"}, {"picture"}, attributes({{"perm", Ints{0, 3, 1, 2}}}));
  m.node("Exp", {"picture"}, {"y"}).node("Relu", {"t"}, {"z"}).output("q").output("y").output("z");
  EXPECT_EQ(types(after(normalize_pictures, m)),
            "ChannelNormalization Transpose Reshape Transpose Reshape Reshape Gemm Exp Relu");
}

// As torch writes it for adaptive pools of one picture.
TEST(NormalizePictures, OfTokensOfOnePicture) {
  OnnxModel m(17);
  m.input("x", {1, 5, 3, 4}).initializer("shape", ints({1, 12, 5})).initializer("hwc", ints({3, 4, 1, 5}));
  m.initializer("scale", random_tensor({5}, 1));
  m.node("Transpose", {"x"}, {"p"}, attributes({{"perm", Ints{0, 2, 3, 1}}}))
      .node("Reshape", {"p", "shape"}, {"t"});
  m.node("LayerNormalization", {"t", "scale"}, {"n"}).node("Reshape", {"n", "hwc"}, {"i"});
  m.node("Transpose", {"i"}, {"picture"}, attributes({{"perm", Ints{2, 3, 0, 1}}}));
  m.node("Exp", {"picture"}, {"y"}).node("Relu", {"t"}, {"z"}).output("y").output("z");
  EXPECT_EQ(types(after(normalize_pictures, m)), "ChannelNormalization Transpose Reshape Exp Relu");
}

TEST(NormalizePictures, KeepsNormsOfPartsAndOfOutputs) {
  OnnxModel m(17);
  m.input("x", {2, 6, 3, 4})
      .initializer("shape", ints({2, 24, 3}))
      .initializer("scale", random_tensor({3}, 1));
  m.node("Transpose", {"x"}, {"p"}, attributes({{"perm", Ints{0, 2, 3, 1}}}));
  m.node("Reshape", {"p", "shape"}, {"t"}).node("LayerNormalization", {"t", "scale"}, {"n"});
  m.node("Exp", {"n"}, {"y"}).output("y");
  EXPECT_EQ(types(after(normalize_pictures, m)), "Transpose Reshape LayerNormalization Exp");
  OnnxModel output = tokens();
  output.node("LayerNormalization", {"t", "scale"}, {"y"}).output("y");
  EXPECT_EQ(types(after(normalize_pictures, output)), "Transpose Reshape LayerNormalization");
}

}  // namespace
}  // namespace vellum::test
