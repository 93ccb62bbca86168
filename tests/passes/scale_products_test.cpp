// Scalars that multiply matrix products, or their operands, become a part of MatMul.
#include <gtest/gtest.h>

#include "graph/operators/matmul/matmul.hpp"
#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

OnnxModel product() {
  OnnxModel m;
  m.input("a", {2, 3, 4})
      .input("b", {2, 4, 5})
      .initializer("three", HostTensor::f32({1}, std::vector<float>{3.0f}));
  m.initializer("eight", scalar(8.0f))
      .initializer("rows", HostTensor::f32({5}, std::vector<float>{1.0f, 2.0f, 3.0f, 4.0f, 5.0f}));
  return m;
}

float alpha_of(const Graph& graph) {
  for (const Node& node : graph.nodes)
    if (const auto* op = dynamic_cast<const MatMul*>(node.op.get())) return op->alpha;
  return 0.0f;
}

TEST(ScaleProducts, OperandsAndResult) {
  OnnxModel m = product();
  m.node("Mul", {"three", "a"}, {"s"}).node("Div", {"b", "eight"}, {"t"}).node("MatMul", {"s", "t"}, {"p"});
  const Graph graph = after(scale_products, m.node("Mul", {"p", "three"}, {"y"}).output("y"));
  EXPECT_EQ(types(graph), "MatMul");
  EXPECT_FLOAT_EQ(alpha_of(graph), 9.0f / 8.0f);
}

TEST(ScaleProducts, OtherFactorsStay) {
  OnnxModel rows = product();  // not a scalar
  rows.node("MatMul", {"a", "b"}, {"p"}).node("Mul", {"p", "rows"}, {"y"}).output("y");
  EXPECT_EQ(types(after(scale_products, rows)), "MatMul Mul");
  OnnxModel shared = product();  // of which another reads the product, or the operand
  shared.node("Mul", {"a", "three"}, {"s"})
      .node("MatMul", {"s", "b"}, {"p"})
      .node("Mul", {"p", "three"}, {"y"});
  shared.output("y").output("p").output("s");
  EXPECT_EQ(types(after(scale_products, shared)), "Mul MatMul Mul");
  OnnxModel divisor = product();
  divisor.node("MatMul", {"a", "b"}, {"p"}).node("Div", {"eight", "p"}, {"y"}).output("y");
  EXPECT_EQ(types(after(scale_products, divisor)), "MatMul Div");
  OnnxModel constant = product();
  constant.initializer("w", random_tensor({4, 6}, 1)).node("Mul", {"a", "three"}, {"s"});
  constant.node("MatMul", {"s", "w"}, {"y"}).output("y");
  EXPECT_EQ(types(after(scale_products, constant)), "Mul MatMul");
}

TEST(ScaleProducts, TransposesKeepTheFactor) {
  OnnxModel m = product();
  m.node("MatMul", {"a", "b"}, {"p"}).node("Mul", {"p", "three"}, {"s"});
  m.node("Transpose", {"s"}, {"y"}, attributes({{"perm", Attributes::Ints{0, 2, 1}}})).output("y");
  const auto both = [](Graph& graph) {
    scale_products(graph);
    fuse_transposes(graph);
  };
  const Graph graph = after(both, m);
  EXPECT_EQ(types(graph), "MatMul");
  EXPECT_FLOAT_EQ(alpha_of(graph), 3.0f);
}

}  // namespace
}  // namespace vellum::test
