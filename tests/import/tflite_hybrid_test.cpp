// Layers of floats with weights of integers. tests/oracles/litert_operators.py prints these values, which
// LiteRT's reference kernels compute.
#include <gtest/gtest.h>

#include "import/import.hpp"
#include "passes/pass_harness.hpp"
#include "passes/passes.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

using Options = tfl::BuiltinOptions;

std::vector<int> eighths(int64_t count, int seed) {
  std::vector<int> values;
  for (int i = 0; i < count; ++i) values.push_back((i * 7 + seed * 5) % 17 - 8);
  return values;
}

HostTensor input(const Shape& shape) {
  std::vector<float> values;
  for (const int value : eighths(element_count(shape), 2))
    values.push_back(static_cast<float>(value) / 8 + 0.25f);
  return HostTensor::f32(shape, values);
}

int32_t add_weights(TfliteModel& m, const std::vector<int32_t>& shape, const std::vector<float>& scales,
                    int32_t axis = 0) {
  int64_t count = 1;
  for (const int32_t extent : shape) count *= extent;
  std::vector<int8_t> integers;
  for (const int value : eighths(count, 1)) integers.push_back(static_cast<int8_t>(12 * value));
  m.quantise_next(scales, std::vector<int64_t>(scales.size(), 0), axis);
  return m.constant<int8_t>("w", shape, integers, tfl::TensorType::int8);
}

int32_t add_bias(TfliteModel& m) {
  std::vector<float> bias;
  for (const int value : eighths(3, 3)) bias.push_back(static_cast<float>(value) / 8);
  return m.floats("b", {3}, bias);
}

// The operators that the model becomes.
std::string expect_results(const std::string& bytes, const Shape& shape, const std::vector<float>& want) {
  const Graph graph = optimise(import_model(as_bytes(bytes)), {});
  const HostTensor inputs[] = {input(shape)};
  EXPECT_TRUE(close(
      evaluate(graph, inputs)[0],
      HostTensor::f32({static_cast<int64_t>(want.size())}, want).reshaped(evaluate(graph, inputs)[0].shape()),
      1e-6));
  return types(graph);
}

std::string row(bool asymmetric, int32_t rows = 1) {
  TfliteModel m;
  const auto x = m.tensor("x", {rows, 6}), y = m.tensor("y", {rows, 3});
  const auto w = add_weights(m, {3, 6}, {0.0625f});
  m.op(9, {x, w, add_bias(m)}, {y}, Options::FullyConnectedOptions,
       tfl::CreateFullyConnectedOptions(m.builder(), tfl::FusedActivation::none, tfl::WeightsFormat::standard,
                                        false, asymmetric)
           .Union());
  return m.finish({x}, {y});
}

TEST(TfliteHybrid, ProductsOfOneRow) {
  EXPECT_NE(expect_results(row(false), {1, 6}, {-4.76476383f, 1.49704719f, -6.07874012f}).find("ScaledConv"),
            std::string::npos);
  expect_results(row(true), {1, 6}, {-4.71985292f, 1.47794116f, -6.03676462f});
}

// Rows have scales of their own, which ScaledConv has not.
TEST(TfliteHybrid, SeveralRowsStayFloats) {
  EXPECT_EQ(types(optimise(import_model(as_bytes(row(false, 2))), {})).find("ScaledConv"), std::string::npos);
}

std::string convolution(const std::vector<float>& scales, bool depthwise) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 2, 3, 3}), y = m.tensor("y", {1, 1, 2, 3});
  const auto w = add_weights(m, {depthwise ? 1 : 3, 2, 2, 3}, scales, depthwise ? 3 : 0), b = add_bias(m);
  if (depthwise)
    m.op(4, {x, w, b}, {y}, Options::DepthwiseConv2DOptions,
         tfl::CreateDepthwiseConv2DOptions(m.builder(), tfl::Padding::valid, 1, 1).Union());
  else
    m.op(3, {x, w, b}, {y}, Options::Conv2DOptions,
         tfl::CreateConv2DOptions(m.builder(), tfl::Padding::valid, 1, 1).Union());
  return m.finish({x}, {y});
}

TEST(TfliteHybrid, Convolutions) {
  const Shape x{1, 2, 3, 3};
  const std::vector<float> scales{0.0625f, 0.03125f, 0.125f};
  expect_results(convolution({0.0625f}, false), x,
                 {-11.9621067f, -10.7022638f, -12.0861216f, -11.6373034f, -5.28395653f, -7.9744091f});
  expect_results(convolution(scales, false), x,
                 {-12.0191183f, -5.54558849f, -24.6764717f, -11.5838242f, -2.78382373f, -16.252943f});
  expect_results(convolution(scales, true), x,
                 {-2.23676491f, -4.136765f, -4.01764727f, -5.69558859f, -2.19558835f, -3.99411774f});
}

enum class Table { looked_up, looked_up_by_row, gathered, dequantised };

// Rows of tables are gathered as integers: one scale for all or for each row, results of floats or of
// integers.
TEST(TfliteHybrid, TablesStayIntegers) {
  constexpr int32_t kRows = 64, kColumns = 20;
  for (const Table form : {Table::looked_up, Table::looked_up_by_row, Table::gathered, Table::dequantised}) {
    TfliteModel m;
    const auto indices = m.tensor("indices", {3}, tfl::TensorType::int32);
    std::vector<float> scales;
    for (int32_t row = 0; row < (form == Table::looked_up_by_row ? kRows : 1); ++row)
      scales.push_back(0.01f + 0.001f * static_cast<float>(row));
    auto table = add_weights(m, {kRows, kColumns}, scales);
    const bool gives_integers = form == Table::gathered;
    if (gives_integers) m.quantise_next(scales, {0}, 0);
    const auto y =
        m.tensor("y", {3, kColumns}, gives_integers ? tfl::TensorType::int8 : tfl::TensorType::float32);
    if (form == Table::dequantised) {
      const auto floats = m.tensor("floats", {kRows, kColumns});
      m.op(6, {table}, {floats});
      table = floats;
    }
    if (form == Table::looked_up || form == Table::looked_up_by_row)
      m.op(7, {indices, table}, {y});
    else
      m.op(36, {table, indices}, {y}, Options::GatherOptions,
           tfl::CreateGatherOptions(m.builder(), 0, 0).Union());
    const Graph graph = optimise(import_model(as_bytes(m.finish({indices}, {y}))), {});
    EXPECT_NE(types(graph).find("BlockGather"), std::string::npos) << types(graph);
    EXPECT_EQ(types(graph).find("FakeQuantize"), std::string::npos) << types(graph);
    const std::vector<int64_t> rows{63, 0, 17};
    const HostTensor inputs[] = {HostTensor::from<int64_t>(DType::i32, {3}, rows)};
    const std::vector<int> values = eighths(kRows * kColumns, 1);
    std::vector<float> want;
    for (const int64_t row : rows)
      for (int64_t column = 0; column < kColumns; ++column) {
        const auto integer = static_cast<float>(12 * values[static_cast<size_t>(row * kColumns + column)]);
        const float scale = scales[form == Table::looked_up_by_row ? static_cast<size_t>(row) : 0];
        want.push_back(gives_integers ? integer : integer * scale);
      }
    EXPECT_EQ(evaluate(graph, inputs)[0].to_floats(), want);
  }
}

}  // namespace
}  // namespace vellum::test
