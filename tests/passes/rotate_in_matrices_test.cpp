// Attention reads rotated queries and keys in place, as matrices of tokens.
#include <gtest/gtest.h>

#include "graph/operators/matmul/attention.hpp"
#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

using Axes = std::vector<int64_t>;

// Attention of three heads of eight channels over the tokens of two images.
class RotatedAttention {
 public:
  RotatedAttention() {
    model_.input("x", {2, 5, 12}).initializer("split", HostTensor::i64({4}, Axes{2, 5, 3, 8}));
    model_.initializer("merged", HostTensor::i64({3}, Axes{2, 5, 24}));
    for (const auto& [name, value] : {std::pair{"zero", 0}, {"half", 4}, {"all", 8}, {"last", 3}})
      model_.initializer(name, HostTensor::i64({1}, Axes{value}));
    for (const uint32_t seed : {1u, 2u, 3u, 4u}) model_.initializer(table(seed), random_tensor({5, 8}, seed));
  }

  // Queries, keys and values as parts of one product.
  RotatedAttention& one_product() {
    model_.initializer("w", random_tensor({12, 72}, 5)).node("MatMul", {"x", "w"}, {"qkv"});
    model_.node("Split", {"qkv"}, {"q", "k", "v"}, attributes({{"axis", int64_t{2}}}));
    return *this;
  }

  RotatedAttention& products() {
    for (const std::string name : {"q", "k", "v"}) {
      model_.initializer("w" + name, random_tensor({12, 24}, 6));
      model_.node("MatMul", {"x", "w" + name}, {name});
    }
    return *this;
  }

  Graph optimised(uint32_t q_table, uint32_t k_table, std::vector<std::string> disabled = {}) {
    for (const std::string name : {"q", "k", "v"}) {
      model_.node("Reshape", {name, "split"}, {name + "4"});
      model_.node("Transpose", {name + "4"}, {name + "h"}, attributes({{"perm", Axes{0, 2, 1, 3}}}));
    }
    rotate("q", q_table);
    rotate("k", k_table);
    model_.node("Transpose", {"kr"}, {"kt"}, attributes({{"perm", Axes{0, 1, 3, 2}}}));
    model_.node("MatMul", {"qr", "kt"}, {"s"})
        .node("Softmax", {"s"}, {"p"}, attributes({{"axis", int64_t{-1}}}));
    model_.node("MatMul", {"p", "vh"}, {"a"});
    model_.node("Transpose", {"a"}, {"t"}, attributes({{"perm", Axes{0, 2, 1, 3}}}));
    model_.node("Reshape", {"t", "merged"}, {"m"}).initializer("o", random_tensor({24, 12}, 7));
    model_.node("MatMul", {"m", "o"}, {"y"}).output("y");
    return after([&](Graph& graph) { graph = optimise(graph, {}, disabled); }, model_);
  }

 private:
  static std::string table(uint32_t seed) { return "table" + std::to_string(seed); }

  void rotate(const std::string& name, uint32_t seed) {
    const std::string x = name + "h";
    model_.node("Slice", {x, "zero", "half", "last"}, {name + "a"});
    model_.node("Slice", {x, "half", "all", "last"}, {name + "b"}).node("Neg", {name + "b"}, {name + "n"});
    model_.node("Concat", {name + "n", name + "a"}, {name + "c"}, attributes({{"axis", int64_t{3}}}));
    model_.node("Mul", {x, table(seed)}, {name + "x"})
        .node("Mul", {name + "c", table(seed + 1)}, {name + "z"});
    model_.node("Add", {name + "x", name + "z"}, {name + "r"});
  }

  OnnxModel model_{13};
};

TEST(RotateInMatrices, QueriesAndKeysOfOneProduct) {
  const Graph graph = RotatedAttention().one_product().optimised(1, 1);
  EXPECT_EQ(types(graph), "Reshape Gemm RotateChannels Attention Gemm Reshape");
}

TEST(RotateInMatrices, HeadsWithoutThePass) {
  const Graph graph = RotatedAttention().one_product().optimised(1, 1, {"rotate_in_matrices"});
  EXPECT_EQ(types(graph), "Reshape Gemm RotateChannels RotateChannels Attention Gemm Reshape");
}

TEST(RotateInMatrices, OtherAnglesOfKeys) {
  const Graph graph = RotatedAttention().one_product().optimised(1, 3);
  EXPECT_EQ(types(graph), "Reshape Gemm RotateChannels RotateChannels Attention Gemm Reshape");
}

TEST(RotateInMatrices, ProductsOfTheirOwn) {
  const Graph graph = RotatedAttention().products().optimised(1, 1);
  EXPECT_EQ(types(graph), "Reshape Gemm Gemm Gemm RotateChannels RotateChannels Attention Gemm Reshape");
  for (const Node& node : graph.nodes) {
    if (node.op->type() != "Attention") continue;
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(graph.values[node.inputs[i]].type.shape, (Shape{10, 24})) << i;
  }
}

}  // namespace
}  // namespace vellum::test
