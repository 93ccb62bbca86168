// UNIDIRECTIONAL_SEQUENCE_LSTM of int8 with cells of int16. tests/oracles/litert_operators.py prints these
// values, which LiteRT's reference kernels compute.
#include <gtest/gtest.h>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/onnx_builder.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

constexpr int32_t kIntegerSteps = 4, kIntegerBatches = 2, kIntegerWidth = 3, kIntegerCells = 2;

template <typename T>
std::vector<T> bytes(int32_t count, int32_t factor, int32_t seed) {
  std::vector<T> values;
  for (int32_t i = 0; i < count; ++i) values.push_back(static_cast<T>((i * factor + seed * 29) % 251 - 125));
  return values;
}

std::string integer_lstm_model(bool coupled) {
  TfliteModel m;
  const auto int8 = [&](float scale, int64_t zero) {
    m.quantise_next({scale}, {zero});
    return tfl::TensorType::int8;
  };
  const auto w_scale = [](int32_t g) { return static_cast<float>(0.01 + 0.001 * g); };
  const std::vector<int32_t> sequence{kIntegerSteps, kIntegerBatches, kIntegerCells};
  const auto x = m.tensor("x", {kIntegerSteps, kIntegerBatches, kIntegerWidth}, int8(0.03f, -7));
  std::vector<int32_t> inputs{x};
  for (int32_t g = 0; g < 4; ++g)
    inputs.push_back(m.constant("w" + std::to_string(g), {kIntegerCells, kIntegerWidth},
                                bytes<int8_t>(kIntegerCells * kIntegerWidth, 37, g), int8(w_scale(g), 0)));
  for (int32_t g = 0; g < 4; ++g)
    inputs.push_back(m.constant("r" + std::to_string(g), {kIntegerCells, kIntegerCells},
                                bytes<int8_t>(kIntegerCells * kIntegerCells, 53, g),
                                int8(static_cast<float>(0.02 - 0.001 * g), 0)));
  inputs.insert(inputs.end(), 3, -1);
  for (int32_t g = 0; g < 4; ++g) {
    m.quantise_next({0.03f * w_scale(g)}, {0});
    inputs.push_back(m.constant<int32_t>("b" + std::to_string(g), {kIntegerCells}, {100 * g, -50 * g},
                                         tfl::TensorType::int32));
  }
  if (coupled)
    for (const size_t gate : {1, 5, 12}) inputs[gate] = -1;
  inputs.insert(inputs.end(), 2, -1);
  inputs.push_back(m.variable_tensor("h", {kIntegerBatches, kIntegerCells}, int8(0.0078125f, 3)));
  m.quantise_next({0x1p-11f}, {0});
  inputs.push_back(m.variable_tensor("c", {kIntegerBatches, kIntegerCells}, tfl::TensorType::int16));
  const auto y = m.tensor("y", sequence, int8(0.0078125f, 3));
  std::vector<int32_t> between;
  for (const char* gate : {"i", "f", "g", "o"}) {
    m.quantise_next({0x1p-12f}, {0});
    between.push_back(m.tensor(gate, {}, tfl::TensorType::int16));
  }
  between.push_back(m.tensor("hidden", {}, int8(0.0078125f, 3)));
  m.intermediates_next(between);
  m.op(44, inputs, {y}, tfl::BuiltinOptions::UnidirectionalSequenceLSTMOptions,
       tfl::CreateUnidirectionalSequenceLSTMOptions(m.builder(), tfl::FusedActivation::tanh,
                                                    coupled ? 0.75f : 0.0f, true)
           .Union());
  return m.finish({x}, {y});
}

// `first` and `second`: what two runs of LiteRT compute, which keeps the states in between.
void expect_integers(bool coupled, const std::vector<int64_t>& first, const std::vector<int64_t>& second) {
  const Graph graph = optimise(import_model(as_bytes(integer_lstm_model(coupled))), {});
  ASSERT_EQ(graph.inputs.size(), 3u);
  const auto initial = [&](size_t i) { return graph.values[graph.inputs[i]].initial_value.value(); };
  const HostTensor x =
      HostTensor::from<int64_t>(DType::i8, {kIntegerSteps, kIntegerBatches, kIntegerWidth},
                                bytes<int64_t>(kIntegerSteps * kIntegerBatches * kIntegerWidth, 71, 1));
  const auto one = evaluate(graph, std::vector{x, initial(1), initial(2)});
  EXPECT_EQ(one[0].to_ints(), first);
  const auto two = evaluate(graph, std::vector{x, one[1], one[2]});
  EXPECT_EQ(two[0].to_ints(), second);
}

TEST(TfliteIntegerLstm, HasTheIntegersOfLiteRt) {
  expect_integers(false, {88, 3, 2, 22, 3, -5, 3, 67, -3, -25, 6, 11, 64, 3, 91, 3},
                  {100, 4, 3, 41, 4, 2, 3, 80, -2, -23, 6, 13, 65, 3, 91, 3});
}

TEST(TfliteIntegerLstm, CouplesGatesAndClipsCells) {
  expect_integers(true, {9, 3, -12, 30, -9, -25, -13, 67, -12, -78, 23, 7, -54, 3, 25, 3},
                  {-53, 3, -11, 31, -11, -16, -13, 67, -12, -78, 23, 7, -54, 3, 25, 3});
}

}  // namespace
}  // namespace vellum::test
