// Products of transposed matrices with constants, between transpositions.
#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

const Attributes kTransposedMatrix = attributes({{"perm", Attributes::Ints{0, 2, 1}}});

// Mixes 6 tokens of 8 channels, through `hidden` values of each channel.
OnnxModel token_mixer(const Shape& x, const std::string& between, int64_t hidden = 10) {
  const int64_t tokens = x[x.size() - 2];
  OnnxModel m(20);
  m.input("x", x)
      .initializer("w1", random_tensor({tokens, hidden}, 1))
      .initializer("b1", random_tensor({hidden}, 2));
  m.initializer("w2", random_tensor({hidden, tokens}, 3));
  m.node("Transpose", {"x"}, {"t"}, kTransposedMatrix)
      .node("MatMul", {"t", "w1"}, {"p"})
      .node("Add", {"p", "b1"}, {"s"});
  m.node(between, {"s"}, {"h"})
      .node("MatMul", {"h", "w2"}, {"q"})
      .node("Transpose", {"q"}, {"y"}, kTransposedMatrix);
  return m;
}

TEST(MultiplyFromLeft, TwoProductsWithBiasAndActivation) {
  const Graph graph = after(multiply_from_left, token_mixer({1, 6, 8}, "Gelu").output("y"));
  EXPECT_EQ(types(graph), "Reshape Gemm Gemm Reshape");
  EXPECT_TRUE(graph.constant(graph.nodes[1].inputs[0]));
}

TEST(MultiplyFromLeft, Matrices) {
  OnnxModel m;
  m.input("x", {6, 8}).initializer("w", random_tensor({6, 5}, 1));
  m.node("Transpose", {"x"}, {"t"})
      .node("MatMul", {"t", "w"}, {"p"})
      .node("Transpose", {"p"}, {"y"})
      .output("y");
  EXPECT_EQ(types(after(multiply_from_left, m)), "Gemm Reshape");
}

// Softmax is along the rows of the product, and is no activation.
TEST(MultiplyFromLeft, NotWithAnotherOperatorBetween) {
  const Graph graph = after(multiply_from_left, token_mixer({1, 6, 8}, "Softmax").output("y"));
  EXPECT_EQ(types(graph), "Transpose MatMul Add Softmax MatMul Transpose");
}

TEST(MultiplyFromLeft, NotSeveralMatrices) {
  const Graph graph = after(multiply_from_left, token_mixer({2, 6, 8}, "Relu").output("y"));
  EXPECT_EQ(types(graph), "Transpose MatMul Add Relu MatMul Transpose");
}

TEST(MultiplyFromLeft, NotIfSomethingElseReadsAProduct) {
  for (const char* also : {"t", "h", "q"}) {
    const Graph graph = after(multiply_from_left, token_mixer({1, 6, 8}, "Relu").output("y").output(also));
    EXPECT_EQ(types(graph), "Transpose MatMul Add Relu MatMul Transpose") << also;
  }
}

TEST(MultiplyFromLeft, NotWhereWeightsAreIntegers) {
  Graph graph = token_mixer({1, 6, 8}, "Relu").output("y").graph();
  infer_shapes_and_fold(graph, {});
  graph.has_integer_weights = true;
  multiply_from_left(graph);
  EXPECT_EQ(types(graph), "Transpose MatMul Add Relu MatMul Transpose");
}

}  // namespace
}  // namespace vellum::test
