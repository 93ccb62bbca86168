// Operators that sum along axes.
#include <gtest/gtest.h>

#include <cmath>

#include "graph/operators/matmul/matmul.hpp"
#include "run_operator.hpp"

namespace vellum::testing {
namespace {

TEST(MatMul, MultipliesBatchesAndVectors) {
  const HostTensor a = floats({2, 2}, {1, 2, 3, 4}), v = floats({2}, {10, 100});
  expect_floats(run({"MatMul"}, {a, a}), {2, 2}, {7, 10, 15, 22});
  expect_floats(run({"MatMul"}, {a, v}), {2}, {210, 430});
  expect_floats(run({"MatMul"}, {v, a}), {2}, {310, 420});
  expect_floats(run({"MatMul"}, {v, v}), {}, {10100});
  // Batches of 2 and 1 broadcast.
  expect_floats(run({"MatMul"}, {floats({2, 1, 2}, {1, 0, 0, 1}), floats({1, 2, 1}, {5, 6})}), {2, 1, 1},
                {5, 6});
  expect_ints(run({"MatMul"}, {ints({1, 2}, {1, 2}), ints({2, 1}, {3, 4})}), {1, 1}, {11});
}

TEST(MatMul, RefusesWhatDoesNotFit) {
  expect_refused({"MatMul"}, {counting({2, 3}), counting({2, 3})}, "do not multiply");
  expect_refused({"MatMul"}, {counting({}), counting({2})}, "A is scalar");
  expect_refused({"MatMul"}, {counting({2, 2, 2}), counting({3, 2, 2})}, "broadcast",
                 ErrorCode::invalid_argument);
}

TEST(Gemm, ScalesTransposesAndAdds) {
  const HostTensor a = floats({2, 1}, {1, 2}), b = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Spec spec{"Gemm", 13, {{"transA", int64_t{1}}, {"alpha", 2.0f}, {"beta", 0.5f}}};
  expect_floats(run(spec, {a, b, floats({3}, {10, 20, 30})}), {1, 3}, {23, 34, 45});
  expect_floats(run({"Gemm", 13, {{"transB", int64_t{1}}}}, {floats({1, 3}, {1, 1, 1}), b}), {1, 2}, {6, 15});
  const OptionalTensors inputs{floats({1, 1}, {-1}), floats({1, 1}, {1})};
  expect_floats(run_all(*make({"Gemm"}, inputs)->with_activation({ActivationKind::relu}), inputs)[0], {1, 1},
                {0});
  expect_refused({"Gemm"}, {a, b}, "do not multiply");
  expect_refused(spec, {a, b, counting({2})}, "do not broadcast", ErrorCode::invalid_argument);
  expect_refused(spec, {a, b, counting({2, 3})}, "C is 2x3");
}

TEST(Softmax, NormalisesAlongAnAxis) {
  const float e = std::exp(1.0f);
  const HostTensor x = floats({2, 2}, {0, 1, 1000, 1000});
  expect_floats(run({"Softmax", 13}, {x}), {2, 2}, {1 / (1 + e), e / (1 + e), 0.5f, 0.5f});
  expect_floats(run({"LogSoftmax", 13}, {x}), {2, 2},
                {-std::log(1 + e), 1 - std::log(1 + e), -0.6931472f, -0.6931472f});
  expect_floats(run({"Hardmax", 13, {{"axis", int64_t{0}}}}, {x}), {2, 2}, {0, 0, 1, 1});
}

TEST(Softmax, FlattensBeforeOpset13) {
  const HostTensor x = floats({1, 2, 2}, Floats(4, 3.0f));
  expect_floats(run({"Softmax", 11}, {x}), {1, 2, 2}, Floats(4, 0.25f));
  expect_floats(run({"Softmax", 13, {{"axis", int64_t{1}}}}, {x}), {1, 2, 2}, Floats(4, 0.5f));
  expect_refused({"Softmax", 13, {{"axis", int64_t{3}}}}, {x}, "out of range");
}

TEST(BatchNormalization, ScalesAndShiftsChannels) {
  const OptionalTensors inputs{floats({1, 2, 1, 1}, {3, 5}), floats({2}, {2, 1}), floats({2}, {1, 0}),
                               floats({2}, {1, 1}), floats({2}, {4, 16})};
  expect_floats(run({"BatchNormalization", 9, {{"epsilon", 0.0f}}}, inputs), {1, 2, 1, 1}, {3, 1});
  auto wrong = inputs;
  wrong[3] = counting({3});
  expect_refused({"BatchNormalization"}, wrong, "'mean' has shape 3");
}

TEST(Normalization, TakesMeanAndVarianceOfItsGroup) {
  const HostTensor x = floats({1, 2, 2}, {1, 3, 10, 30}), two = floats({2}, {1, 2}),
                   zero = floats({2}, {0, 5});
  const std::pair<std::string, Attributes::Value> exact{"epsilon", 0.0f};
  expect_floats(run({"InstanceNormalization", 6, {exact}}, {x, two, zero}), {1, 2, 2}, {-1, 1, 3, 7});
  expect_floats(run({"LayerNormalization", 17, {exact}}, {x, two, zero}), {1, 2, 2}, {-1, 7, -1, 7});
  // Statistics of float16 are computed in float32; only where they are results can it be told.
  const std::pair<std::string, Attributes::Value> halves{"stash_type", int64_t{10}};
  expect_floats(run({"LayerNormalization", 17, {exact, halves}}, {x, two, zero}), {1, 2, 2}, {-1, 7, -1, 7});
  expect_refused({"LayerNormalization", 17, {halves}, 3}, {x, two, zero}, "stash_type 10",
                 ErrorCode::unsupported);
  expect_refused({"LayerNormalization", 17, {{"stash_type", int64_t{11}}}}, {x, two, zero}, "stash_type 11",
                 ErrorCode::unsupported);
  const HostTensor channels = floats({1, 2, 1}, {1, 3});
  expect_floats(run({"GroupNormalization", 21, {exact, {"num_groups", int64_t{1}}}}, {channels, two, zero}),
                {1, 2, 1}, {-1, 7});
  const OptionalTensors pixel{floats({1, 2, 1, 1}, {1, 3}), two, zero};
  expect_floats(run({"ChannelNormalization", 1, {exact}}, pixel), {1, 2, 1, 1}, {-1, 7});
  expect_refused({"ChannelNormalization"}, {channels, two, zero}, "expected four dimensions");
  expect_refused({"ChannelNormalization"}, {pixel[0], floats({1}, {2}), zero}, "scale or B has shape 1");
  expect_floats(run({"LpNormalization", 1, {{"p", int64_t{2}}}}, {floats({2, 2}, {3, 4, 0, 0})}), {2, 2},
                {0.6f, 0.8f, 0, 0});
}

TEST(Reduce, FollowsItsFormula) {
  const HostTensor x = floats({2, 2}, {1, -2, 3, 4});
  const auto reduce = [&](const char* type) {
    return run({type, 11, {{"axes", Ints{1}}, {"keepdims", int64_t{0}}}}, {x});
  };
  expect_floats(reduce("ReduceSum"), {2}, {-1, 7});
  expect_floats(reduce("ReduceMean"), {2}, {-0.5f, 3.5f});
  expect_floats(reduce("ReduceMax"), {2}, {1, 4});
  expect_floats(reduce("ReduceMin"), {2}, {-2, 3});
  expect_floats(reduce("ReduceProd"), {2}, {-2, 12});
  expect_floats(reduce("ReduceL1"), {2}, {3, 7});
  expect_floats(reduce("ReduceL2"), {2}, {std::sqrt(5.0f), 5});
  expect_floats(reduce("ReduceSumSquare"), {2}, {5, 25});
  expect_floats(run({"ReduceLogSum"}, {floats({2}, {1, 2})}), {1}, {std::log(3.0f)});
  expect_floats(run({"ReduceLogSumExp"}, {floats({2}, {1000, 1000})}), {1}, {1000.6931f}, 1e-3f);
}

TEST(Reduce, TakesAxesFromAttributeOrInput) {
  const HostTensor x = counting({2, 3});
  expect_floats(run({"ReduceSum", 11}, {x}), {1, 1}, {15});
  expect_floats(run({"ReduceSum", 13}, {x, ints({1}, {-2})}), {1, 3}, {3, 5, 7});
  expect_floats(run({"ReduceMean", 18}, {x, ints({1}, {0})}), {1, 3}, {1.5f, 2.5f, 3.5f});
  const Spec noop{"ReduceSum", 13, {{"noop_with_empty_axes", int64_t{1}}}};
  expect_floats(run(noop, {x}), {2, 3}, {0, 1, 2, 3, 4, 5});
  expect_ints(run({"ReduceSum", 13}, {ints({2}, {int64_t{1} << 60, 1})}), {1}, {(int64_t{1} << 60) + 1});
  expect_refused({"ReduceSum", 11, {{"axes", Ints{2}}}}, {x}, "out of range");
  expect_refused({"ReduceSum", 11, {{"axes", Ints{0, -2}}}}, {x}, "named twice");
}

// The reduction of each element alone.
TEST(Reduce, OfNoAxesComputesEachElement) {
  const auto of = [](const char* type, const HostTensor& x, Ints axes = {}) {
    const Spec spec{type, 18, {{"noop_with_empty_axes", int64_t{1}}}};
    return axes.empty() ? run(spec, {x}) : run(spec, {x, ints({1}, axes)});
  };
  const HostTensor x = floats({2, 2}, {-3, 0.5f, -0.25f, 2}), whole = ints({3}, {-3, 0, 5});
  for (const char* type : {"ReduceL1", "ReduceL2"}) {
    expect_floats(of(type, x), {2, 2}, {3, 0.5f, 0.25f, 2});
    expect_ints(of(type, whole), {3}, {3, 0, 5});
  }
  expect_floats(of("ReduceSumSquare", x), {2, 2}, {9, 0.25f, 0.0625f, 4});
  expect_ints(of("ReduceSumSquare", whole), {3}, {9, 0, 25});
  expect_floats(of("ReduceLogSum", floats({2}, {1, 8})), {2}, {0, std::log(8.0f)});
  for (const char* type :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceLogSumExp"})
    expect_floats(of(type, x), {2, 2}, {-3, 0.5f, -0.25f, 2});
  expect_floats(of("ReduceL1", x, {1}), {2, 1}, {3.5f, 2.25f});
}

TEST(ArgReduce, FindsTheFirstOrTheLast) {
  const HostTensor x = floats({2, 3}, {1, 5, 5, 2, 2, 0});
  expect_ints(run({"ArgMax", 13, {{"axis", int64_t{1}}}}, {x}), {2, 1}, {1, 0});
  expect_ints(
      run({"ArgMax", 13, {{"axis", int64_t{1}}, {"select_last_index", int64_t{1}}, {"keepdims", int64_t{0}}}},
          {x}),
      {2}, {2, 1});
  expect_ints(run({"ArgMin"}, {x}), {1, 3}, {0, 1, 1});
  expect_refused({"ArgMax"}, {counting({0, 2})}, "is empty");
}

}  // namespace
}  // namespace vellum::testing
