// MatMul reads and writes transposed matrices, and recurrent layers write rows in another order, where a
// Transpose would stand beside them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "graph/operators/matmul/fixed_matmul.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/matmul/recurrence.hpp"
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

// A product of integers keeps the Transpose of its results, which are rounded.
TEST(FuseTransposes, OfOperandsOfIntegers) {
  OnnxModel model;
  model.input("a", {2, 3, 4}).input("b", {2, 5, 4}).node("Transpose", {"b"}, {"bt"}, kExchanged);
  model.node("FixedMatMul", {"a", "bt"}, {"p"}, attributes({{"y_step", 16.0f}}));
  model.node("Transpose", {"p"}, {"y"}, kExchanged).output("y");
  const Graph graph = after(fuse_transposes, model);
  ASSERT_EQ(types(graph), "FixedMatMul Transpose");
  const auto& op = dynamic_cast<const FixedMatMul&>(*graph.nodes[0].op);
  EXPECT_FALSE(op.product.transpose_a);
  EXPECT_TRUE(op.product.transpose_b);
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

// An LSTM of torch: its Y is transposed to steps, batches, directions, units; with `batch_first` the batches
// go first.
OnnxModel lstm(int64_t directions, bool batch_first, bool reads_y = false) {
  constexpr int64_t kSteps = 5, kBatches = 3, kUnits = 4;
  OnnxModel model;
  model.input("x", {kSteps, kBatches, 2}).initializer("w", random_tensor({directions, 4 * kUnits, 2}, 1));
  model.initializer("r", random_tensor({directions, 4 * kUnits, kUnits}, 2));
  model.node("LSTM", {"x", "w", "r"}, {"y"},
             attributes({{"hidden_size", kUnits},
                         {"direction", std::string(directions == 2 ? "bidirectional" : "forward")}}));
  if (directions == 2) model.node("Transpose", {"y"}, {"t"}, attributes({{"perm", Ints{0, 2, 1, 3}}}));
  model.initializer("s",
                    HostTensor::from<int64_t>(DType::i64, {3}, std::vector<int64_t>{kSteps, kBatches, -1}));
  model.node("Reshape", {directions == 2 ? "t" : "y", "s"}, {"j"});
  if (batch_first) model.node("Transpose", {"j"}, {"f"}, attributes({{"perm", Ints{1, 0, 2}}}));
  model.node("Neg", {batch_first ? "f" : "j"}, {"z"}).output("z");
  if (reads_y) model.output("y");
  return model;
}

TEST(FuseTransposes, OfRecurrentLayers) {
  using Order = std::array<size_t, 4>;
  for (const auto& [directions, batch_first, order] : {std::tuple{int64_t{2}, false, Order{0, 2, 1, 3}},
                                                       {2, true, Order{2, 0, 1, 3}},
                                                       {1, true, Order{1, 2, 0, 3}}}) {
    OnnxModel model = lstm(directions, batch_first);
    const Graph graph = optimise(model.graph(), {});
    EXPECT_EQ(types(graph).find("Transpose"), std::string::npos) << types(graph);
    EXPECT_EQ(types(graph).find("AsStrided"), std::string::npos) << types(graph);
    const auto node =
        std::ranges::find(graph.nodes, "Recurrence", [](const Node& each) { return each.op->type(); });
    ASSERT_NE(node, graph.nodes.end());
    EXPECT_EQ(dynamic_cast<const Recurrence&>(*node->op).y_order, order);
    const std::vector<HostTensor> inputs{random_tensor({5, 3, 2}, 3)};
    const HostTensor got = evaluate(graph, inputs)[0], want = evaluate(model.graph(), inputs)[0];
    ASSERT_EQ(got.shape(), want.shape());
    const std::vector<float> values = got.to_floats(), wanted = want.to_floats();
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values[i], wanted[i], 1e-5);
  }
}

TEST(FuseTransposes, RecurrentLayersThatOthersReadStay) {
  const Graph graph = optimise(lstm(2, false, true).graph(), {});
  EXPECT_NE(types(graph).find("Transpose"), std::string::npos) << types(graph);
}

}  // namespace
}  // namespace vellum::test
