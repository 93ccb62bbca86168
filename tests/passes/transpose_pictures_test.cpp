// Transposes between tokens and pictures.
#include <gtest/gtest.h>

#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

Attributes exchanged() { return attributes({{"perm", Ints{0, 2, 1}}}); }

Ints permutation(const Graph& graph, size_t node) {
  return graph.nodes[node].op->attributes().get_ints("perm");
}

TEST(TransposePictures, TokensBecomeAPicture) {
  OnnxModel m;
  m.input("x", {2, 12, 5}).initializer("shape", ints({2, 5, 3, 4}));
  m.node("Transpose", {"x"}, {"t"}, exchanged()).node("Reshape", {"t", "shape"}, {"y"}).output("y");
  const Graph graph = after(transpose_pictures, m);
  ASSERT_EQ(types(graph), "Reshape Transpose");
  EXPECT_EQ(permutation(graph, 1), (Ints{0, 3, 1, 2}));
}

TEST(TransposePictures, APictureBecomesTokens) {
  OnnxModel m;
  m.input("x", {2, 5, 3, 4}).initializer("shape", ints({2, 5, 12}));
  m.node("Reshape", {"x", "shape"}, {"r"}).node("Transpose", {"r"}, {"y"}, exchanged()).output("y");
  const Graph graph = after(transpose_pictures, m);
  ASSERT_EQ(types(graph), "Transpose Reshape");
  EXPECT_EQ(permutation(graph, 0), (Ints{0, 2, 3, 1}));
}

TEST(TransposePictures, BothReadersOfTransposedTokens) {
  OnnxModel m;
  m.input("x", {1, 12, 5}).initializer("shape", ints({1, 5, 3, 4}));
  m.node("Transpose", {"x"}, {"t"}, exchanged()).node("Reshape", {"t", "shape"}, {"y"}).output("y");
  m.node("Relu", {"t"}, {"z"}).output("z");
  EXPECT_EQ(types(after(transpose_pictures, m)), "Transpose Reshape Transpose Relu");
}

TEST(TransposePictures, OtherShapesStay) {
  OnnxModel merged;  // channels too are split
  merged.input("x", {2, 12, 6}).initializer("shape", ints({2, 3, 2, 12}));
  merged.node("Transpose", {"x"}, {"t"}, exchanged()).node("Reshape", {"t", "shape"}, {"y"}).output("y");
  EXPECT_EQ(types(after(transpose_pictures, merged)), "Transpose Reshape");
  OnnxModel batch;
  batch.input("x", {4, 6, 3, 4}).initializer("shape", ints({2, 12, 12}));
  batch.node("Reshape", {"x", "shape"}, {"r"}).node("Transpose", {"r"}, {"y"}, exchanged()).output("y");
  EXPECT_EQ(types(after(transpose_pictures, batch)), "Reshape Transpose");
}

// The activation after them is part of the convolution before them.
TEST(FuseActivations, BehindTransposesAndReshapes) {
  const auto fused = [](bool other_reader) {
    OnnxModel m;
    m.input("x", {1, 4, 3, 4})
        .initializer("w", random_tensor({5, 4, 1, 1}, 1))
        .initializer("s", ints({1, 5, 12}));
    m.node("Conv", {"x", "w"}, {"c"}).node("Reshape", {"c", "s"}, {"r"});
    m.node("Transpose", {"r"}, {"t"}, exchanged()).node("Relu", {"t"}, {"y"}).output("y");
    if (other_reader) m.node("Neg", {"r"}, {"z"}).output("z");
    return types(after(fuse_activations, m));
  };
  EXPECT_EQ(fused(false), "Conv Reshape Transpose");
  EXPECT_EQ(fused(true), "Conv Reshape Transpose Relu Neg");
}

}  // namespace
}  // namespace vellum::test
