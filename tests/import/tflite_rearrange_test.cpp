// TFLite operators that stack, repeat, choose and move blocks: values computed by hand.
#include <gtest/gtest.h>

#include "import/import.hpp"
#include "import/run_tflite.hpp"
#include "passes/passes.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"
#include "support/tflite_cases.hpp"

namespace vellum::test {
namespace {

// The one output, of `shape`, of an operator on x and a constant of integers.
HostTensor run_with_ints(int32_t number, const HostTensor& input, const std::vector<int32_t>& from,
                         const std::vector<int32_t>& numbers, const std::vector<int32_t>& shape) {
  TfliteModel m;
  const auto x = m.tensor("x", from), n = m.ints("n", numbers), y = m.tensor("y", shape);
  m.op(number, {x, n}, {y});
  return run_tflite(m.finish({x}, {y}), {input})[0];
}

TEST(TfliteRearrange, PackAndUnpack) {
  TfliteModel m;
  const auto a = m.tensor("a", {2}), b = m.floats("b", {2}, {3, 4}), p = m.tensor("p", {2, 2});
  const auto y = m.tensor("y", {2}), z = m.tensor("z", {2});
  m.op(83, {a, b}, {p}, tfl::BuiltinOptions::PackOptions, tfl::CreatePackOptions(m.builder(), 2, -1).Union());
  m.op(88, {p}, {y, z}, tfl::BuiltinOptions::UnpackOptions,
       tfl::CreateUnpackOptions(m.builder(), 2, 0).Union());
  const auto result = run_tflite(m.finish({a}, {p, y, z}), {tensor({2}, {1, 2})});
  EXPECT_TRUE(close(result[0], tensor({2, 2}, {1, 3, 2, 4}), 0.0));
  EXPECT_TRUE(close(result[1], tensor({2}, {1, 3}), 0.0));
  EXPECT_TRUE(close(result[2], tensor({2}, {2, 4}), 0.0));
}

// SELECT takes whole rows by a vector; SELECT_V2 broadcasts the same vector along the columns.
TEST(TfliteRearrange, SelectByNotEqual) {
  for (const int32_t number : {64, 123}) {
    TfliteModel m;
    const auto x = m.tensor("x", {2, 2}), v = m.floats("v", {2}, {1, 2}), w = m.floats("w", {2}, {1, 3});
    const auto c = m.tensor("c", {2}, tfl::TensorType::boolean), y = m.tensor("y", {2, 2});
    const auto other = m.floats("other", {2, 2}, {-1, -2, -3, -4});
    m.op(72, {v, w}, {c});
    m.op(number, {c, x, other}, {y});
    const auto expected = number == 64 ? tensor({2, 2}, {-1, -2, 3, 4}) : tensor({2, 2}, {-1, 2, -3, 4});
    EXPECT_TRUE(close(run_tflite(m.finish({x}, {y}), {tensor({2, 2}, {1, 2, 3, 4})})[0], expected, 0.0));
  }
}

TEST(TfliteRearrange, TileAndBroadcastTo) {
  const HostTensor x = tensor({1, 2}, {1, 2});
  EXPECT_TRUE(
      close(run_with_ints(69, x, {1, 2}, {2, 2}, {2, 4}), tensor({2, 4}, {1, 2, 1, 2, 1, 2, 1, 2}), 0.0));
  EXPECT_TRUE(close(run_with_ints(130, x, {1, 2}, {3, 2}, {3, 2}), tensor({3, 2}, {1, 2, 1, 2, 1, 2}), 0.0));
}

TEST(TfliteRearrange, GatherNd) {
  TfliteModel m;
  const auto x = m.tensor("x", {2, 2}), y = m.tensor("y", {2});
  const auto at = m.constant<int32_t>("at", {2, 2}, {0, 1, 1, 0}, tfl::TensorType::int32);
  m.op(107, {x, at}, {y});
  EXPECT_TRUE(
      close(run_tflite(m.finish({x}, {y}), {tensor({2, 2}, {1, 2, 3, 4})})[0], tensor({2}, {2, 3}), 0.0));
}

TEST(TfliteRearrange, SplitWithASizeThatIsLeftOver) {
  TfliteModel m;
  const auto x = m.tensor("x", {5}), a = m.tensor("a", {2}), b = m.tensor("b", {3});
  const auto axis = m.constant<int32_t>("axis", {}, {0}, tfl::TensorType::int32);
  m.op(102, {x, m.ints("sizes", {2, -1}), axis}, {a, b}, tfl::BuiltinOptions::SplitVOptions,
       tfl::CreateSplitVOptions(m.builder(), 2).Union());
  const auto result = run_tflite(m.finish({x}, {a, b}), {tensor({5}, {1, 2, 3, 4, 5})});
  EXPECT_TRUE(close(result[0], tensor({2}, {1, 2}), 0.0));
  EXPECT_TRUE(close(result[1], tensor({3}, {3, 4, 5}), 0.0));
}

// tests/api/tflite_operators_test.cpp has the same on a device.
TEST(TfliteRearrange, GatherAlongEveryAxisWithCommonDimensions) {
  for (const bool constant : {false, true})
    for (const TfliteCase& one : gather_cases(constant))
      EXPECT_TRUE(close(run_tflite(one.bytes, one.inputs)[0], one.expected, 0.0)) << one.name;
}

TEST(TfliteRearrange, FullyConnectedOfEveryRankWithEveryActivation) {
  for (const TfliteCase& one : fully_connected_cases())
    EXPECT_TRUE(close(run_tflite(one.bytes, one.inputs)[0], one.expected, 1e-5)) << one.name;
}

TEST(TfliteRearrange, FullyConnectedWithOpenDimensions) {
  for (const std::vector<int32_t>& open : {std::vector<int32_t>{-1, 3, 2}, {2, -1, 2}, {-1, -1, 2}})
    for (const bool with_bias : {false, true}) {
      TfliteModel m;
      const auto x = m.tensor("x", open), w = m.floats("w", {3, 2}, {1, 2, 0, -1, 4, 0}),
                 y = m.tensor("y", {open[0], open[1], 3});
      std::vector<int32_t> operands{x, w};
      if (with_bias) operands.push_back(m.floats("b", {3}, {10, 0, -9}));
      m.op(9, operands, {y}, tfl::BuiltinOptions::FullyConnectedOptions,
           tfl::CreateFullyConnectedOptions(m.builder(), tfl::FusedActivation::relu,
                                            tfl::WeightsFormat::standard, true)
               .Union());
      const std::string bytes = m.finish({x}, {y});
      const HostTensor rows = tensor({2, 3, 2}, {1, 0, 0, 1, 2, 2, -1, 0, 3, -1, 0, 0});
      const HostTensor expected =
          with_bias ? tensor({2, 3, 3}, {11, 0, 0, 12, 0, 0, 16, 0, 0, 9, 0, 0, 11, 1, 3, 10, 0, 0})
                    : tensor({2, 3, 3}, {1, 0, 4, 2, 0, 0, 6, 0, 8, 0, 0, 0, 1, 1, 12, 0, 0, 0});
      const Graph graph = optimise(import_model(as_bytes(bytes)), {{"x", {2, 3, 2}}});
      EXPECT_TRUE(close(evaluate(graph, std::vector<HostTensor>{rows})[0], expected, 0.0))
          << open[0] << open[1];
    }
}

TEST(TfliteRearrange, FloorDivRoundsDown) {
  TfliteModel m;
  const auto x = m.tensor("x", {3}), d = m.floats("d", {3}, {2, 2, -2}), y = m.tensor("y", {3});
  m.op(90, {x, d}, {y});
  EXPECT_TRUE(
      close(run_tflite(m.finish({x}, {y}), {tensor({3}, {7, -7, 7})})[0], tensor({3}, {3, -4, -4}), 0.0));
  TfliteModel n;
  const auto i = n.tensor("i", {3}, tfl::TensorType::int32), q = n.tensor("q", {3}, tfl::TensorType::int32);
  const auto e = n.ints("e", {2, 2, -2});
  n.op(90, {i, e}, {q});
  const std::vector<int64_t> given{7, -7, 7}, expected{3, -4, -4};
  const auto integers = HostTensor::from<int64_t>(DType::i32, {3}, given);
  EXPECT_EQ(run_tflite(n.finish({i}, {q}), {integers})[0].to_ints(), expected);
}

// The dividend less its remainder would be below the least integer of 32 bits.
TEST(TfliteRearrange, FloorDivOfTheLeastIntegers) {
  TfliteModel m;
  const auto x = m.tensor("x", {3}, tfl::TensorType::int32), y = m.tensor("y", {3}, tfl::TensorType::int32);
  m.op(90, {x, m.ints("d", {7, 3, -2})}, {y});
  const std::vector<int64_t> given{INT32_MIN + 1, INT32_MIN, INT32_MIN},
      expected{-306783379, -715827883, 1073741824};
  const auto integers = HostTensor::from<int64_t>(DType::i32, {3}, given);
  EXPECT_EQ(run_tflite(m.finish({x}, {y}), {integers})[0].to_ints(), expected);
}

// A 1x2x3x1 image padded by a column in front: rows 0 1 2 3 and 0 4 5 6, in blocks of 2x2.
TEST(TfliteRearrange, SpaceToBatchAndBack) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 2, 3, 1}), s = m.tensor("s", {4, 1, 2, 1});
  const auto y = m.tensor("y", {1, 2, 3, 1}), block = m.ints("block", {2, 2});
  const auto edges = m.constant<int32_t>("edges", {2, 2}, {0, 0, 1, 0}, tfl::TensorType::int32);
  m.op(38, {x, block, edges}, {s});
  m.op(37, {s, block, edges}, {y});
  const HostTensor image = tensor({1, 2, 3, 1}, {1, 2, 3, 4, 5, 6});
  const auto result = run_tflite(m.finish({x}, {s, y}), {image});
  EXPECT_TRUE(close(result[0], tensor({4, 1, 2, 1}, {0, 2, 1, 3, 0, 5, 4, 6}), 0.0));
  EXPECT_TRUE(close(result[1], image, 0.0));
}

}  // namespace
}  // namespace vellum::test
