// Products of one-hot rows and a constant matrix become lookups.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "graph/operators/matmul/matmul.hpp"
#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

constexpr int64_t kDepth = 5, kColumns = 8;

HostTensor counted(DType dtype, const Shape& shape, int64_t first) {
  std::vector<int64_t> values(static_cast<size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), first);
  return HostTensor::from<int64_t>(dtype, shape, values);
}

// Cast(Equal(Expand(Reshape(x)), first + (0, 1, ...))) times a matrix, in the shape (2, 3, columns).
OnnxModel compared(DType dtype, int64_t first, bool expands) {
  OnnxModel model;
  model.input("x", {2, 3}, dtype).initializer("column", HostTensor::i64({3}, std::vector<int64_t>{2, 3, 1}));
  model.initializer("all", HostTensor::i64({3}, std::vector<int64_t>{2, 3, kDepth}));
  model.initializer("numbers", counted(dtype, {1, 1, kDepth}, first));
  model.initializer("matrix", random_tensor({kDepth, kColumns}, 1));
  model.node("Reshape", {"x", "column"}, {"x1"});
  if (expands) model.node("Expand", {"x1", "all"}, {"x5"});
  model.node("Equal", {expands ? "x5" : "x1", "numbers"}, {"hot"});
  model.node("Cast", {"hot"}, {"row"}, attributes({{"to", int64_t{1}}}));
  model.node("MatMul", {"row", "matrix"}, {"y"});
  return model;
}

OnnxModel one_hot(const std::vector<float>& values, int64_t axis = -1) {
  OnnxModel model;
  model.input("x", {2, 3}, DType::i64).initializer("depth", HostTensor::i64({1}, std::vector{kDepth}));
  model.initializer("values", HostTensor::f32({2}, values));
  model.initializer("matrix", random_tensor({axis == -1 ? kDepth : 3, kColumns}, 1));
  model.node("OneHot", {"x", "depth", "values"}, {"row"}, attributes({{"axis", axis}}));
  model.node("MatMul", {"row", "matrix"}, {"y"});
  return model;
}

bool has(const Graph& graph, const std::string& type) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) { return node.op->type() == type; });
}

Graph before(const OnnxModel& model) {
  Graph graph = model.graph();
  infer_shapes_and_fold(graph, {});
  return graph;
}

Graph rewritten(const OnnxModel& model) {
  Graph graph = before(model);
  gather_one_hot(graph);
  check(graph);
  for (const Node& node : graph.nodes) EXPECT_EQ(infer(graph, node)[0], graph.values[node.outputs[0]].type);
  return graph;
}

void expect_equal_results(const OnnxModel& model, const Graph& graph, const std::vector<int64_t>& numbers) {
  const Graph plain = before(model);
  const TensorType type = plain.values[plain.inputs[0]].type;
  const HostTensor x = HostTensor::from<int64_t>(type.dtype, type.shape, numbers);
  const std::vector<HostTensor> inputs{x};
  EXPECT_TRUE(close(evaluate(graph, inputs)[0], evaluate(plain, inputs)[0], 1e-6));
}

TEST(GatherOneHot, OfComparisonsWithACount) {
  for (const DType dtype : {DType::i32, DType::i64})
    for (const int64_t first : {0, -2, 7})
      for (const bool expands : {true, false}) {
        OnnxModel model = compared(dtype, first, expands);
        model.output("y");
        const Graph graph = rewritten(model);
        EXPECT_TRUE(has(graph, "Gather")) << types(graph);
        EXPECT_FALSE(has(graph, "MatMul")) << types(graph);
        expect_equal_results(model, graph, {first, first + 4, first + 2, first + 1, first + 3, first});
        // Rows without a 1.
        const int64_t far = int64_t{1} << 31;
        expect_equal_results(model, graph, {first - 1, first + 5, -first - 40, 1000, far - 1, -far});
      }
}

TEST(GatherOneHot, OfOneHotCountsFromTheEnd) {
  OnnxModel model = one_hot({0.0f, 1.0f});
  model.output("y");
  const Graph graph = rewritten(model);
  EXPECT_EQ(types(graph), "Max Min Gather");
  expect_equal_results(model, graph, {0, 4, -1, -5, -6, 5});
  expect_equal_results(model, graph, {2, -3, 1000, -1000, 3, 1});
}

// A bias and an activation are computed in the table; what reads two rows is not.
TEST(GatherOneHot, ElementwiseOperatorsAreComputedInTheTable) {
  OnnxModel model = compared(DType::i32, 0, true);
  model.initializer("bias", random_tensor({kColumns}, 2))
      .initializer("half", HostTensor::f32({}, std::array{0.5f}));
  model.node("Add", {"y", "bias"}, {"sum"}).node("Mul", {"half", "sum"}, {"scaled"});
  model.node("Tanh", {"scaled"}, {"z"}).output("z");
  const Graph graph = rewritten(model);
  EXPECT_EQ(types(graph), "Reshape Reshape Max Min Gather");
  expect_equal_results(model, graph, {0, 4, 2, 1, 3, 0});
  expect_equal_results(model, graph, {-1, 5, 7, -9, 3, 2});

  OnnxModel rows = compared(DType::i32, 0, true);
  rows.initializer("bias", random_tensor({3, 1}, 2)).node("Add", {"y", "bias"}, {"z"}).output("z");
  const Graph stays = rewritten(rows);
  EXPECT_TRUE(has(stays, "Gather") && has(stays, "Add")) << types(stays);
  expect_equal_results(rows, stays, {0, 4, 2, 1, 3, 0});

  OnnxModel twice = compared(DType::i32, 0, true);
  twice.node("Tanh", {"y"}, {"z"}).output("z").output("y");
  const Graph both = rewritten(twice);
  EXPECT_TRUE(has(both, "Gather") && has(both, "Tanh")) << types(both);
}

TEST(GatherOneHot, WhatIsNoRowOfAMatrixStays) {
  const auto stays = [](OnnxModel model) {
    model.output("y");
    return has(rewritten(model), "MatMul");
  };
  EXPECT_TRUE(stays(one_hot({0.0f, 2.0f})));
  EXPECT_TRUE(stays(one_hot({1.0f, 0.0f})));
  EXPECT_TRUE(stays(one_hot({0.0f, 1.0f}, 1)));
  OnnxModel gaps = compared(DType::i32, 0, true);
  gaps.node("Equal", {"x5", "gap"}, {"hot2"})
      .initializer("gap",
                   HostTensor::from<int64_t>(DType::i32, {kDepth}, std::vector<int64_t>{0, 1, 2, 4, 5}));
  gaps.node("Cast", {"hot2"}, {"row2"}, attributes({{"to", int64_t{1}}}))
      .node("MatMul", {"row2", "matrix"}, {"z"});
  gaps.output("z");
  EXPECT_TRUE(has(rewritten(gaps), "MatMul"));
  OnnxModel infinite = compared(DType::i32, 0, true);  // 0 times infinity is no number
  HostTensor matrix = random_tensor({kDepth, kColumns}, 1);
  matrix.mutable_as<float>()[3] = std::numeric_limits<float>::infinity();
  infinite.initializer("with_infinity", matrix).node("MatMul", {"row", "with_infinity"}, {"z"});
  infinite.output("z");
  EXPECT_TRUE(has(rewritten(infinite), "MatMul"));
}

}  // namespace
}  // namespace vellum::test
