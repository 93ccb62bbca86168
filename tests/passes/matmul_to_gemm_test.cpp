// Products of any rows with constant matrices.
#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

OnnxModel with_product(const Shape& x) {
  OnnxModel m;
  const int64_t inner = x.back();
  m.input("x", x).initializer("w", random_tensor({inner, 5}, 1)).initializer("b", random_tensor({5}, 2));
  m.node("MatMul", {"x", "w"}, {"p"});
  return m;
}

TEST(MatmulToGemm, BiasAndActivationGoAlong) {
  OnnxModel m = with_product({2, 3, 4});
  m.node("Add", {"b", "p"}, {"s"}).node("Relu", {"s"}, {"y"}).output("y");
  EXPECT_EQ(types(after(matmul_to_gemm, m)), "Reshape Gemm Reshape");
}

TEST(MatmulToGemm, MatricesNeedNoReshape) {
  OnnxModel m = with_product({3, 4});
  m.node("Add", {"p", "b"}, {"y"}).output("y");
  EXPECT_EQ(types(after(matmul_to_gemm, m)), "Gemm");
}

TEST(MatmulToGemm, AddendsThatVaryByRowStay) {
  OnnxModel m = with_product({2, 3, 4});
  m.initializer("c", random_tensor({3, 5}, 3)).node("Add", {"p", "c"}, {"y"}).output("y");
  EXPECT_EQ(types(after(matmul_to_gemm, m)), "Reshape Gemm Reshape Add");
}

TEST(MatmulToGemm, ProductsInARowKeepTheirRows) {
  OnnxModel m = with_product({2, 3, 4});
  m.initializer("w2", random_tensor({5, 6}, 4))
      .node("Add", {"p", "b"}, {"s"})
      .node("MatMul", {"s", "w2"}, {"y"})
      .output("y");
  const auto both = [](Graph& graph) { graph = optimise(graph, {}); };
  EXPECT_EQ(types(after(both, m)), "Reshape Gemm Gemm Reshape");
}

TEST(MatmulToGemm, ProductsOfOneValueShareItsRows) {
  OnnxModel m = with_product({2, 3, 4});
  m.initializer("w2", random_tensor({4, 6}, 4)).node("MatMul", {"x", "w2"}, {"q"}).output("p").output("q");
  EXPECT_EQ(types(after(matmul_to_gemm, m)), "Reshape Gemm Reshape Gemm Reshape");
}

TEST(MatmulToGemm, OutputsInBetweenStay) {
  OnnxModel m = with_product({2, 3, 4});
  m.node("Add", {"p", "b"}, {"y"}).output("y").output("p");
  EXPECT_EQ(types(after(matmul_to_gemm, m)), "Reshape Gemm Reshape Add");
}

}  // namespace
}  // namespace vellum::test
