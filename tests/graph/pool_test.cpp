#include "graph/operators/reduction/pool.hpp"

#include <gtest/gtest.h>

#include "run_operator.hpp"

namespace vellum::testing {
namespace {

const std::pair<std::string, Attributes::Value> k2{"kernel_shape", Ints{2, 2}};

TEST(MaxPool, TakesTheLargest) {
  expect_floats(run({"MaxPool", 12, {k2, {"strides", Ints{2, 2}}}}, {counting({1, 1, 4, 4})}), {1, 1, 2, 2},
                {5, 7, 13, 15});
  // Padding never wins, however negative the input.
  expect_floats(
      run({"MaxPool", 12, {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 0}}}}, {floats({1, 1, 2}, {-5, -7})}),
      {1, 1, 2}, {-5, -5});
}

TEST(MaxPool, Dilates) {
  const Spec spec{"MaxPool", 12, {{"kernel_shape", Ints{2}}, {"dilations", Ints{2}}}};
  expect_floats(run(spec, {floats({1, 1, 4}, {9, 1, 2, 3})}), {1, 1, 2}, {9, 3});
}

TEST(MaxPool, RoundsUpWithCeilMode) {
  const auto spec = [](int64_t ceil, int64_t stride) {
    return Spec{"MaxPool", 12, {{"kernel_shape", Ints{2}}, {"strides", Ints{stride}}, {"ceil_mode", ceil}}};
  };
  expect_floats(run(spec(0, 2), {counting({1, 1, 5})}), {1, 1, 2}, {1, 3});
  expect_floats(run(spec(1, 2), {counting({1, 1, 5})}), {1, 1, 3}, {1, 3, 4});
  // A window that would start after the input is dropped.
  expect_floats(run(spec(1, 4), {counting({1, 1, 4})}), {1, 1, 1}, {1});
}

TEST(MaxPool, GivesIndicesIntoTheWholeInput) {
  const OptionalTensors inputs{floats({1, 2, 2}, {3, 1, 2, 8})};
  const auto op = make({"MaxPool", 12, {{"kernel_shape", Ints{2}}}, 2}, inputs);
  const auto outputs = run_all(*op, inputs);
  ASSERT_EQ(outputs.size(), 2u);
  expect_ints(outputs[1], {1, 2, 1}, {0, 3});
}

TEST(AdaptiveAveragePool, AveragesWindowsOfDifferentSizes) {
  const auto pool = [](int64_t height, int64_t width) {
    return Spec{"AdaptiveAveragePool", 1, {{"height", height}, {"width", width}}};
  };
  expect_floats(run(pool(1, 2), {counting({1, 1, 1, 5})}), {1, 1, 1, 2}, {1, 3});
  expect_floats(run(pool(2, 3), {counting({1, 1, 2, 3})}), {1, 1, 2, 3}, {0, 1, 2, 3, 4, 5});
  expect_floats(run(pool(3, 1), {counting({1, 2, 2, 1})}), {1, 2, 3, 1}, {0, 0.5f, 1, 2, 2.5f, 3});
  expect_refused(pool(0, 1), {counting({1, 1, 2, 2})}, "no windows");
  expect_refused(pool(1, 1), {counting({1, 1, 2, 0})}, "no elements");
  expect_refused(pool(1, 1), {counting({1, 2, 2})}, "four dimensions");
  expect_refused(pool(INT64_MAX, 1), {counting({1, 1, 2, 2})}, "so large a plane", ErrorCode::unsupported);
}

TEST(AveragePool, CountsPaddingOnlyWhenAsked) {
  const auto spec = [](int64_t include) {
    return Spec{
        "AveragePool", 11, {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}, {"count_include_pad", include}}};
  };
  expect_floats(run(spec(0), {floats({1, 1, 2}, {4, 8})}), {1, 1, 3}, {4, 6, 8});
  expect_floats(run(spec(1), {floats({1, 1, 2}, {4, 8})}), {1, 1, 3}, {2, 6, 4});
}

TEST(AveragePool, CountsNoElementBehindThePaddingInCeilMode) {
  const Spec spec{"AveragePool",
                  11,
                  {{"kernel_shape", Ints{3}},
                   {"strides", Ints{2}},
                   {"ceil_mode", int64_t{1}},
                   {"count_include_pad", int64_t{1}}}};
  expect_floats(run(spec, {floats({1, 1, 4}, {3, 6, 9, 5})}), {1, 1, 2}, {6, 7});
}

TEST(LpPool, GivesTheNorm) {
  expect_floats(run({"LpPool", 11, {{"kernel_shape", Ints{2}}}}, {floats({1, 1, 2}, {3, -4})}), {1, 1, 1},
                {5});
  expect_floats(
      run({"LpPool", 11, {{"kernel_shape", Ints{2}}, {"p", int64_t{1}}}}, {floats({1, 1, 2}, {3, -4})}),
      {1, 1, 1}, {7});
}

TEST(GlobalPool, ReducesEachChannel) {
  const HostTensor x = floats({1, 2, 1, 2}, {1, 3, 5, -9});
  expect_floats(run({"GlobalMaxPool"}, {x}), {1, 2, 1, 1}, {3, 5});
  expect_floats(run({"GlobalAveragePool"}, {x}), {1, 2, 1, 1}, {2, -2});
}

TEST(Pool, RefusesWhatDoesNotFit) {
  const HostTensor x = counting({1, 1, 3, 3});
  expect_refused({"MaxPool"}, {x}, "'kernel_shape' is missing");
  expect_refused({"MaxPool", 12, {{"kernel_shape", Ints{2}}}}, {x}, "kernel");
  expect_refused({"MaxPool", 12, {{"kernel_shape", Ints{4, 4}}}}, {x}, "window of 4");
  expect_refused({"MaxPool", 12, {k2, {"ceil_mode", int64_t{2}}}}, {x}, "'ceil_mode' is 2");
  expect_refused({"MaxPool", 12, {k2}}, {counting({3, 3})}, "expected N x C");
  expect_refused({"LpPool", 11, {k2, {"p", int64_t{0}}}}, {x}, "p is 0");
}

}  // namespace
}  // namespace vellum::testing
