// MatMul reads and writes transposed matrices where a Transpose would stand beside it.
#include <gtest/gtest.h>

#include "graph/operators/matmul/matmul.hpp"
#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

const Attributes kExchanged = attributes({{"perm", Ints{0, 2, 1}}});

TEST(FuseTransposes, OfOperandsAndResult) {
  for (const bool a : {false, true})
    for (const bool b : {false, true})
      for (const bool result : {false, true}) {
        OnnxModel model;
        model.input("a", a ? Shape{2, 4, 3} : Shape{2, 3, 4}).input("b", b ? Shape{1, 5, 4} : Shape{1, 4, 5});
        if (a) model.node("Transpose", {"a"}, {"at"}, kExchanged);
        if (b) model.node("Transpose", {"b"}, {"bt"}, kExchanged);
        model.node("MatMul", {a ? "at" : "a", b ? "bt" : "b"}, {result ? "p" : "y"});
        if (result) model.node("Transpose", {"p"}, {"y"}, kExchanged);
        const Graph graph = after(fuse_transposes, model.output("y"));
        ASSERT_EQ(types(graph), "MatMul");
        const auto& op = dynamic_cast<const MatMul&>(*graph.nodes[0].op);
        EXPECT_EQ(op.transpose_a, result ? !b : a);
        EXPECT_EQ(op.transpose_b, result ? !a : b);
      }
}

TEST(FuseTransposes, OthersStay) {
  OnnxModel batch;  // more than the last two dimensions
  batch.input("a", {3, 2, 4}).input("b", {2, 4, 5});
  batch.node("Transpose", {"a"}, {"t"}, attributes({{"perm", Ints{1, 0, 2}}}));
  batch.node("MatMul", {"t", "b"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_transposes, batch)), "Transpose MatMul");

  OnnxModel shared;  // which others read
  shared.input("a", {2, 4, 3}).input("b", {2, 4, 5}).node("Transpose", {"a"}, {"t"}, kExchanged);
  shared.node("MatMul", {"t", "b"}, {"y"}).output("y").output("t");
  EXPECT_EQ(types(after(fuse_transposes, shared)), "Transpose MatMul");

  OnnxModel constant;
  constant.input("a", {2, 4, 3}).initializer("b", random_tensor({2, 4, 5}, 1));
  constant.node("Transpose", {"a"}, {"t"}, kExchanged).node("MatMul", {"t", "b"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_transposes, constant)), "Transpose MatMul");
}

}  // namespace
}  // namespace vellum::test
