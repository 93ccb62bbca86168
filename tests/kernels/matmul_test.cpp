// MatMul and Gemm on every storage and precision against the host reference.
#include "graph/operators/matmul/matmul.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace matmul_test {

OperatorCase matmul(Shape a, Shape b, std::set<size_t> constants) {
  OperatorCase test;
  test.type = "MatMul";
  test.inputs = {random_tensor(std::move(a), 1), random_tensor(std::move(b), 2)};
  test.constants = std::move(constants);
  return test;
}

OperatorCase gemm(Shape a, Shape b, std::optional<Shape> c, std::set<size_t> constants,
                  std::initializer_list<std::pair<const char*, Attributes::Value>> with = {}) {
  OperatorCase test;
  test.type = "Gemm";
  test.inputs = {random_tensor(std::move(a), 1), random_tensor(std::move(b), 2)};
  if (c) test.inputs.push_back(random_tensor(std::move(*c), 3));
  test.constants = std::move(constants);
  for (const auto& [name, value] : with) test.attributes.set(name, value);
  return test;
}

TEST(MatMul, TwoMatrices) {
  for (const std::set<size_t>& constants : {std::set<size_t>{}, std::set<size_t>{1}, std::set<size_t>{0}}) {
    check_operator(matmul({5, 7}, {7, 12}, constants));
    check_operator(matmul({9, 13}, {13, 11}, constants));
    check_operator(matmul({1, 5}, {5, 1}, constants));
  }
}

// More products than an invocation adds, with columns that fill texels and others.
TEST(MatMul, LongSums) {
  for (const int64_t k : {65535, 65536, 65600}) {
    for (OperatorCase test : {matmul({1, k}, {k, 3}, {}), matmul({2, 3, k}, {2, k, 1}, {})}) {
      test.sweep.fp32_tolerance = 5e-4;  // the host adds up in fp32, too, in another order
      check_operator(test);
    }
  }
  DeviceCaps caps = test_context()->caps();
  caps.max_loop_iterations = 600;  // as little as many constants would exceed
  for (const int64_t k : {1600, 1601}) {
    check_operator(matmul({5, k}, {k, 8}, {1}), caps);
    check_operator(matmul({2, 5, k}, {k, 8}, {1}), caps);
    check_operator(matmul({5, k}, {k, 8}, {}), caps);
    check_operator(gemm({5, k}, {k, 7}, Shape{7}, {1, 2}), caps);
  }
}

TEST(MatMul, Vectors) {
  for (const std::set<size_t>& constants : {std::set<size_t>{}, std::set<size_t>{1}}) {
    check_operator(matmul({7}, {7, 8}, constants));
    check_operator(matmul({6, 7}, {7}, constants));
    check_operator(matmul({7}, {7}, constants));
    check_operator(matmul({7}, {3, 7, 5}, constants));
  }
}

TEST(MatMul, BatchesAgainstOneMatrix) {
  for (const std::set<size_t>& constants : {std::set<size_t>{}, std::set<size_t>{1}}) {
    check_operator(matmul({3, 5, 6}, {6, 8}, constants));
    check_operator(matmul({2, 3, 5, 7}, {7, 9}, constants));
    check_operator(matmul({3, 5, 12}, {12, 20}, constants));
    check_operator(matmul({2, 3, 9}, {1, 9, 16}, constants));
  }
}

TEST(MatMul, BroadcastBatches) {
  check_operator(matmul({2, 3, 5, 6}, {2, 3, 6, 4}, {}));
  check_operator(matmul({2, 1, 5, 6}, {3, 6, 7}, {}));
  check_operator(matmul({5, 6}, {2, 3, 6, 4}, {1}));
  check_operator(matmul({3, 19, 5}, {3, 5, 20}, {}));
  OperatorCase deep = matmul({2, 1, 3, 1, 2, 3, 2}, {1, 2, 3, 2, 1, 2, 4}, {});
  deep.sweep.host_allowed = true;
  check_operator(deep);
}

// Large enough for tiles, with lengths of every remainder by four.
TEST(MatMul, TilesOfOddSizes) {
  check_operator(matmul({33, 50}, {50, 47}, {}));
  check_operator(matmul({2, 13, 68}, {2, 68, 39}, {}));
  check_operator(matmul({3, 1, 21, 35}, {2, 35, 36}, {}));
  check_operator(matmul({41, 36}, {3, 36, 52}, {}));
}

TEST(MatMul, TransposedOperands) {
  const Attributes::Value one = int64_t{1};
  OperatorCase b = matmul({2, 3, 21, 36}, {1, 3, 38, 36}, {});
  b.attributes.set("transB", one);
  check_operator(b);
  OperatorCase a = matmul({3, 35, 24}, {35, 20}, {});
  a.attributes.set("transA", one);
  check_operator(a);
  OperatorCase both = matmul({2, 13, 6}, {2, 7, 13}, {1});
  both.attributes.set("transA", one);
  both.attributes.set("transB", one);
  check_operator(both);
  OperatorCase constant = matmul({9, 13}, {12, 13}, {1});
  constant.attributes.set("transB", one);
  check_operator(constant);
}

// In rows of whole texels, in rows that are none, and element by element.
TEST(MatMul, Factors) {
  for (OperatorCase scaled : {matmul({2, 9, 36}, {2, 36, 40}, {}), matmul({2, 13, 68}, {2, 68, 39}, {}),
                              matmul({3, 5}, {5, 2}, {}), matmul({9, 13}, {13, 12}, {1})}) {
    scaled.attributes.set("alpha", 0.375f);
    check_operator(scaled);
  }
}

// Elements of rows that are not whole texels are stored one by one, without a copy.
TEST(MatMul, OddRowsTakeNoCopy) {
  const Program program = lower(single_node_graph(matmul({8, 36, 40}, {8, 40, 39}, {})), {}, {});
  size_t products = 0;
  for (const Task& task : program.tasks) {
    if (!task.dispatch) continue;
    EXPECT_NE(task.dispatch->shader, "strided_copy");
    products += task.dispatch->shader == "matmul" ? 1 : 0;
  }
  EXPECT_EQ(products, 1u);
}

TEST(Gemm, TilesOfOddSizes) {
  const Attributes::Value one = int64_t{1};
  check_operator(gemm({45, 37}, {42, 37}, Shape{42}, {}, {{"transB", one}, {"beta", 0.5f}}));
  check_operator(gemm({35, 41}, {35, 52}, Shape{41, 52}, {}, {{"transA", one}, {"alpha", 1.5f}}));
  OperatorCase both = gemm({44, 39}, {43, 44}, Shape{39, 1}, {}, {{"transA", one}, {"transB", one}});
  both.activation = {ActivationKind::relu};
  check_operator(both);
  EXPECT_GT(check_candidates(both).size(), 3u);
}

TEST(Gemm, ConstantWeights) {
  const Attributes::Value one = int64_t{1};
  check_operator(gemm({1, 13}, {13, 10}, Shape{10}, {1, 2}));
  check_operator(gemm({7, 6}, {9, 6}, Shape{1, 9}, {1, 2}, {{"transB", one}}));
  check_operator(gemm({5, 8}, {8, 4}, std::nullopt, {1}, {{"alpha", 0.5f}}));
  check_operator(gemm({5, 8}, {8, 6}, Shape{1}, {1, 2}, {{"alpha", 0.5f}, {"beta", -2.0f}}));
  check_operator(gemm({65, 30}, {30, 34}, Shape{}, {1, 2}));
}

TEST(Gemm, AnyOperandsAtRunTime) {
  const Attributes::Value one = int64_t{1};
  check_operator(gemm({5, 6}, {6, 8}, Shape{5, 8}, {}, {{"beta", 0.5f}}));
  check_operator(gemm({6, 5}, {7, 6}, Shape{5, 1}, {1}, {{"transA", one}, {"transB", one}, {"alpha", 1.5f}}));
  check_operator(gemm({6, 5}, {6, 12}, Shape{12}, {1, 2}, {{"transA", one}}));
  check_operator(gemm({5, 6}, {8, 6}, Shape{}, {}, {{"transB", one}}));
  check_operator(gemm({5, 6}, {6, 3}, std::nullopt, {}));
  check_operator(gemm({5, 6}, {6, 8}, Shape{8}, {0}, {{"beta", 0.0f}}));
}

TEST(Gemm, Residual) {
  for (const bool bias : {true, false}) {
    auto op = std::make_shared<Gemm>();
    op->activation = {ActivationKind::relu};
    for (const int64_t columns : {12, 10}) {
      OperatorCase test = gemm({9, 8}, {8, columns}, Shape{columns}, {1, 2});
      if (!bias) test.inputs[2] = std::nullopt;
      test.inputs.push_back(random_tensor({9, columns}, 4));
      test.op = op;
      check_operator(test);
    }
  }
}

// Rows of whole texels have the same bytes in both layouts of a buffer.
TEST(Gemm, OfRowsInBuffersNeedsNoConversion) {
  const auto dispatches = [](int64_t columns) {
    const OperatorCase test = gemm({9, 8}, {8, columns}, Shape{columns}, {1, 2});
    return lower(single_node_graph(test), test_context()->caps(), {.storage = StorageChoice::buffer})
        .tasks.size();
  };
  EXPECT_EQ(dispatches(12), 1u);
  EXPECT_EQ(dispatches(10), 2u);
}

// Few outputs of long sums, which several invocations of a GPU share.
TEST(Gemm, SplitSums) {
  OperatorCase long_sums = gemm({1, 1030}, {1030, 22}, Shape{22}, {1, 2});
  long_sums.activation = {ActivationKind::relu};
  OperatorCase residual = gemm({5, 1030}, {1030, 16}, Shape{16}, {1, 2});
  residual.inputs.push_back(random_tensor({5, 16}, 4));
  residual.op = std::make_shared<Gemm>();
  DeviceCaps gpu = test_context()->caps();
  gpu.type = DeviceType::discrete_gpu;
  for (OperatorCase test : {long_sums, residual}) {
    test.sweep.as_for_gpu = true;
    test.sweep.fp32_tolerance = 3e-5;
    check_operator(test);
    std::vector<Choice> choices;
    lower(single_node_graph(test), gpu, {.choices = &choices});
    ASSERT_EQ(choices.size(), 1u);
    EXPECT_NE(choices[0].candidates[choices[0].taken].parameters.find("split-K"), std::string::npos);
  }
}

// Long sums of products from the left, which several invocations of a GPU share.
TEST(Gemm, SplitSumsFromTheLeft) {
  const OperatorCase test = gemm({9, 38}, {38, 30}, Shape{9, 1}, {0, 2});
  const DeviceCaps gpu = gpu_named("NAVI31");
  const Program program = lower(single_node_graph(test), gpu, {});
  EXPECT_TRUE(std::ranges::any_of(program.tasks, [](const Task& task) {
    return task.dispatch && task.dispatch->shader == "matmul" &&
           std::ranges::any_of(task.dispatch->defines,
                               [](const auto& macro) { return macro.first == "PARTS"; });
  }));
  check_operator(test, gpu);
}

// The rows of the constant are packed by the host, and the other matrix is in texels.
TEST(Gemm, OfAConstantAndAComputedMatrix) {
  const Attributes::Value one = int64_t{1};
  check_operator(gemm({9, 8}, {8, 12}, Shape{9, 1}, {0, 2}));
  check_operator(gemm({45, 38}, {38, 41}, std::nullopt, {0}, {{"alpha", 1.5f}}));
  OperatorCase mixed = gemm({49, 44}, {49, 70}, Shape{44, 1}, {0, 2}, {{"transA", one}, {"beta", 0.5f}});
  mixed.activation = {ActivationKind::relu};
  check_operator(mixed);
  EXPECT_GT(check_candidates(mixed).size(), 3u);
  OperatorCase long_sums = gemm({1030, 6}, {1030, 22}, Shape{6, 1}, {0, 2}, {{"transA", one}});
  long_sums.sweep.as_for_gpu = true;
  long_sums.sweep.fp32_tolerance = 3e-5;
  check_operator(long_sums);
  DeviceCaps gpu = test_context()->caps();
  gpu.type = DeviceType::discrete_gpu;
  std::vector<Choice> choices;
  const Program program =
      lower(single_node_graph(long_sums), gpu, {.inputs_to_channels4 = true, .choices = &choices});
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(choices[0].candidates[choices[0].taken].algorithm, "left");
  EXPECT_NE(choices[0].candidates[choices[0].taken].parameters.find("split-K"), std::string::npos);
  for (const Task& task : program.tasks) EXPECT_NE(task.dispatch->shader, "matmul_pack");
}

TEST(Gemm, FusedActivation) {
  for (const std::set<size_t>& constants : {std::set<size_t>{}, std::set<size_t>{1, 2}}) {
    OperatorCase test = gemm({5, 7}, {7, 8}, Shape{8}, constants);
    test.activation = {ActivationKind::relu};
    check_operator(test);
  }
}

}  // namespace matmul_test
}  // namespace vellum::test
