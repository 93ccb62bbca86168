// The row-wise operators of transformers, on matrices; residuals of products.
#include "graph/operators/matmul/matmul.hpp"
#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

// x (2, 3, 8) times a matrix, as p.
OnnxModel with_product(int64_t columns = 8) {
  OnnxModel m;
  m.input("x", {2, 3, 8}).initializer("w", random_tensor({8, columns}, 1));
  m.node("MatMul", {"x", "w"}, {"p"});
  return m;
}

Graph as_matrices(const OnnxModel& model) {
  return after(
      [](Graph& graph) {
        matmul_to_gemm(graph);
        tokens_to_matrices(graph);
      },
      model);
}

Graph optimised(const OnnxModel& model) {
  return after([](Graph& graph) { graph = optimise(graph, {}); }, model);
}

OnnxModel token_block() {
  OnnxModel m = with_product();
  m.initializer("scale", random_tensor({8}, 2)).initializer("bias", random_tensor({8}, 3));
  m.initializer("up", random_tensor({8, 12}, 4)).initializer("down", random_tensor({12, 8}, 5));
  m.node("Add", {"x", "p"}, {"s"});
  m.node("LayerNormalization", {"s", "scale", "bias"}, {"n"});
  m.node("MatMul", {"n", "up"}, {"u"}).node("Relu", {"u"}, {"r"}).node("MatMul", {"r", "down"}, {"d"});
  m.node("Add", {"s", "d"}, {"y"}).output("y");
  return m;
}

TEST(TokensToMatrices, ABlockOfATransformer) {
  EXPECT_EQ(types(as_matrices(token_block())), "Reshape Gemm Add LayerNormalization Gemm Gemm Add Reshape");
  EXPECT_EQ(types(optimised(token_block())), "Reshape Gemm LayerNormalization Gemm Gemm Reshape");
}

TEST(TokensToMatrices, ElementwiseOperators) {
  OnnxModel m = with_product();
  m.initializer("row", random_tensor({1, 1, 8}, 2)).initializer("all", random_tensor({2, 3, 8}, 3));
  m.node("Mul", {"p", "row"}, {"a"}).node("Sub", {"all", "a"}, {"b"}).node("Sqrt", {"b"}, {"y"}).output("y");
  EXPECT_EQ(types(as_matrices(m)), "Reshape Gemm Mul Sub Sqrt Reshape");
}

// The rounded GELU of a quantised model.
TEST(TokensToMatrices, FunctionsByATable) {
  OnnxModel m = with_product();
  m.initializer("step", HostTensor::f32({}, std::vector<float>{0.125f}));
  m.initializer("zero", HostTensor::from<int64_t>(DType::u8, {}, std::array{int64_t{128}}));
  const auto round = [&](const std::string& from, const std::string& to) {
    m.node("QuantizeLinear", {from, "step", "zero"}, {to + "_q"});
    m.node("DequantizeLinear", {to + "_q", "step", "zero"}, {to});
  };
  round("p", "rounded");
  m.node("Sigmoid", {"rounded"}, {"gate"}).node("Mul", {"rounded", "gate"}, {"silu"});
  round("silu", "y");
  m.node("Neg", {"y"}, {"z"}).output("z");
  const auto passes = [](Graph& graph) {
    fuse_quantization(graph);
    matmul_to_gemm(graph);
    tokens_to_matrices(graph);
  };
  EXPECT_EQ(types(after(passes, m)), "Reshape Gemm ByteTable Neg Reshape");
}

// A class token and the others, a class token that is a constant.
std::string with_class_token(int64_t images, int64_t begin, bool constant) {
  OnnxModel m;
  m.input("x", {images, 5, 8}).initializer("w", random_tensor({8, 8}, 1));
  m.initializer("class", random_tensor({images, 1, 8}, 2)).initializer("axis", ints({1}));
  m.initializer("zero", ints({0})).initializer("begin", ints({begin})).initializer("end", ints({5}));
  m.node("MatMul", {"x", "w"}, {"p"}).node("Slice", {"p", "begin", "end", "axis"}, {"others"});
  m.node("Slice", {"p", "zero", "begin", "axis"}, {"first"}).node("Relu", {"others"}, {"r"});
  m.node("Concat", {constant ? "class" : "first", "r"}, {"c"}, attributes({{"axis", int64_t{1}}}));
  m.node("MatMul", {"c", "w"}, {"y"}).output("y");
  return types(as_matrices(m));
}

TEST(TokensToMatrices, RowsThatAreSlicedAndJoined) {
  EXPECT_EQ(with_class_token(1, 1, false), "Reshape Gemm Slice Slice Relu Concat Gemm Reshape");
  EXPECT_EQ(with_class_token(1, 2, false), "Reshape Gemm Slice Slice Relu Concat Gemm Reshape");
  EXPECT_EQ(with_class_token(1, 1, true), "Reshape Gemm Slice Relu Concat Gemm Reshape");
  EXPECT_EQ(with_class_token(2, 1, false),
            "Reshape Gemm Reshape Slice Slice Relu Concat Reshape Gemm Reshape")
      << "rows of two images do not follow each other";
}

TEST(TokensToMatrices, OtherSlicesStay) {
  OnnxModel m;
  m.input("x", {1, 5, 8}).initializer("w", random_tensor({8, 8}, 1)).initializer("three", ints({3}));
  m.initializer("zero", ints({0})).initializer("five", ints({5})).initializer("two", ints({2}));
  m.initializer("tokens", ints({1})).node("MatMul", {"x", "w"}, {"p"});
  m.node("Slice", {"p", "zero", "three", "two"}, {"channels"}).output("channels");
  m.node("Slice", {"p", "zero", "five", "tokens", "two"}, {"every second"}).output("every second");
  EXPECT_EQ(types(as_matrices(m)), "Reshape Gemm Reshape Slice Slice");
}

TEST(TokensToMatrices, WhatVariesOtherwiseStays) {
  OnnxModel m = with_product();
  m.initializer("token", random_tensor({3, 1}, 2)).node("Mul", {"p", "token"}, {"y"}).output("y");
  EXPECT_EQ(types(as_matrices(m)), "Reshape Gemm Reshape Mul");
  OnnxModel wide = with_product();
  wide.initializer("scale", random_tensor({3, 8}, 2));
  wide.node("LayerNormalization", {"p", "scale"}, {"y"}, attributes({{"axis", int64_t{1}}})).output("y");
  EXPECT_EQ(types(as_matrices(wide)), "Reshape Gemm Reshape LayerNormalization");
}

TEST(TokensToMatrices, AnOutputInBetween) {
  OnnxModel m = with_product();
  m.node("Add", {"x", "p"}, {"s"}).node("Sqrt", {"s"}, {"y"}).output("y").output("s");
  const Graph graph = as_matrices(m);
  EXPECT_EQ(types(graph).substr(0, 12), "Reshape Gemm");
}

TEST(GemmResidual, ThenTheActivation) {
  for (const bool first : {true, false}) {
    OnnxModel m;
    m.input("x", {5, 4}).input("r", {5, 6}).initializer("w", random_tensor({4, 6}, 1));
    m.initializer("b", random_tensor({6}, 2)).node("Gemm", {"x", "w", "b"}, {"p"});
    m.node("Add", {first ? "p" : "r", first ? "r" : "p"}, {"s"}).node("Relu", {"s"}, {"y"}).output("y");
    EXPECT_EQ(types(optimised(m)), "Gemm");
  }
}

TEST(GemmResidual, NotOfComputedMatrices) {
  OnnxModel m;
  m.input("x", {5, 4}).input("r", {5, 6}).input("w", {4, 6});
  m.node("Gemm", {"x", "w"}, {"p"}).node("Add", {"p", "r"}, {"y"}).output("y");
  EXPECT_EQ(types(optimised(m)), "Gemm Add");
  OnnxModel transposed;
  transposed.input("x", {4, 5}).input("r", {5, 6}).initializer("w", random_tensor({4, 6}, 1));
  transposed.node("Gemm", {"x", "w"}, {"p"}, attributes({{"transA", int64_t{1}}}));
  transposed.node("Add", {"p", "r"}, {"y"}).output("y");
  EXPECT_EQ(types(optimised(transposed)), "Gemm Add");
}

}  // namespace
}  // namespace vellum::test
