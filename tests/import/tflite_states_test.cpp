// RNN, UNIDIRECTIONAL_SEQUENCE_RNN, SVDF and convolutions of volumes. tests/oracles/litert_operators.py
// prints these values, which LiteRT's reference kernels compute.
#include <gtest/gtest.h>

#include "import/import.hpp"
#include "import/run_tflite.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

using Tensors = std::vector<HostTensor>;

// Eighths in -1...1.
std::vector<float> eighths_of(int32_t count, int32_t seed) {
  std::vector<float> values;
  for (int32_t i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 7 + seed * 5) % 17 - 8) / 8);
  return values;
}

template <typename T>
std::vector<T> integers_of(int32_t count, int32_t factor, int32_t seed, int32_t scale = 1) {
  std::vector<T> values;
  for (int32_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(((i * factor + seed * 29) % 251 - 125) * scale));
  return values;
}

// Returns the first output of each run. The last input and output are the state, which a run hands to the
// next.
Tensors run_with_state(const std::string& file, const HostTensor& x, int runs) {
  const Graph graph = optimise(import_model(as_bytes(file)), {});
  EXPECT_EQ(graph.inputs.size(), 2u);
  HostTensor state = graph.values[graph.inputs.at(1)].initial_value.value();
  Tensors results;
  for (int run = 0; run < runs; ++run) {
    Tensors outputs = evaluate(graph, std::vector{x, state});
    results.push_back(outputs.at(0));
    state = outputs.at(1);
  }
  return results;
}

std::vector<int32_t> rnn_inputs(TfliteModel& m, int32_t x) {
  return {x, m.floats("w", {2, 3}, eighths_of(6, 0)), m.floats("r", {2, 2}, eighths_of(4, 1)),
          m.floats("b", {2}, eighths_of(2, 2)), m.variable_tensor("h", {2, 2})};
}

std::string sequence_rnn(bool time_major, tfl::FusedActivation activation) {
  TfliteModel m;
  const auto x = m.tensor("x", time_major ? std::vector<int32_t>{3, 2, 3} : std::vector<int32_t>{2, 3, 3});
  const std::vector<int32_t> inputs = rnn_inputs(m, x);
  const auto y = m.tensor("y", time_major ? std::vector<int32_t>{3, 2, 2} : std::vector<int32_t>{2, 3, 2});
  m.op(35, inputs, {y}, tfl::BuiltinOptions::SequenceRNNOptions,
       tfl::CreateSequenceRNNOptions(m.builder(), time_major, activation).Union());
  return m.finish({x}, {y});
}

TEST(TfliteRnn, BatchesBeforeSteps) {
  const Tensors got = run_with_state(sequence_rnn(false, tfl::FusedActivation::tanh),
                                     tensor({2, 3, 3}, eighths_of(18, 7)), 2);
  EXPECT_TRUE(close(got[0],
                    tensor({2, 3, 2}, {0.944829404f, -0.868790269f, -0.657675505f, -0.656120479f,
                                       -0.262630731f, -0.0574451201f, -0.108940937f, -0.94312793f,
                                       0.884791434f, -0.845258772f, -0.609138966f, -0.546236098f}),
                    1e-6));
  EXPECT_TRUE(close(got[1],
                    tensor({2, 3, 2}, {0.951841414f, -0.813851833f, -0.643348694f, -0.655203581f,
                                       -0.267199934f, -0.0680336654f, -0.152858406f, -0.880289018f,
                                       0.894759953f, -0.833201766f, -0.607696474f, -0.550410628f}),
                    1e-6));
}

TEST(TfliteRnn, StepsBeforeBatches) {
  const Tensors got =
      run_with_state(sequence_rnn(true, tfl::FusedActivation::relu), tensor({3, 2, 3}, eighths_of(18, 7)), 2);
  EXPECT_TRUE(close(
      got[0], tensor({3, 2, 2}, {1.78125f, 0, 0, 0.03125f, 0, 0, 0, 0, 1.828125f, 0, 0.046875f, 0.15625f}),
      1e-6));
  EXPECT_TRUE(close(got[1],
                    tensor({3, 2, 2}, {1.09570312f, 0, 0.060546875f, 0.015625f, 0, 0, 0, 0, 1.828125f, 0,
                                       0.046875f, 0.15625f}),
                    1e-6));
  EXPECT_VELLUM_ERROR(import_model(as_bytes(sequence_rnn(true, tfl::FusedActivation::relu6))),
                      ErrorCode::unsupported, "UNIDIRECTIONAL_SEQUENCE_RNN", "activation 3");
}

TEST(TfliteRnn, OneStep) {
  TfliteModel m;
  const auto x = m.tensor("x", {2, 3});
  const std::vector<int32_t> inputs = rnn_inputs(m, x);
  const auto y = m.tensor("y", {2, 2});
  m.op(24, inputs, {y}, tfl::BuiltinOptions::RNNOptions,
       tfl::CreateRNNOptions(m.builder(), tfl::FusedActivation::tanh).Union());
  const Tensors got = run_with_state(m.finish({x}, {y}), tensor({2, 3}, eighths_of(6, 7)), 2);
  EXPECT_TRUE(close(got[0], tensor({2, 2}, {0.944829404f, -0.868790269f, 0, 0.03123983f}), 1e-6));
  EXPECT_TRUE(
      close(got[1], tensor({2, 2}, {0.758444905f, -0.972979188f, 0.0156186437f, 0.0351405032f}), 1e-6));
}

void add_svdf(TfliteModel& m, const std::vector<int32_t>& inputs, int32_t y, int32_t rank,
              tfl::FusedActivation activation) {
  m.op(27, inputs, {y}, tfl::BuiltinOptions::SVDFOptions,
       tfl::CreateSVDFOptions(m.builder(), rank, activation).Union());
}

TEST(TfliteSvdf, RemembersTheFeaturesOfThreeRuns) {
  TfliteModel m;
  const auto x = m.tensor("x", {2, 3}), y = m.tensor("y", {2, 2});
  const auto w = m.floats("w", {4, 3}, eighths_of(12, 0)), t = m.floats("t", {4, 3}, eighths_of(12, 1)),
             b = m.floats("b", {2}, eighths_of(2, 2)), state = m.variable_tensor("state", {2, 12});
  add_svdf(m, {x, w, t, b, state}, y, 2, tfl::FusedActivation::none);
  const Tensors got = run_with_state(m.finish({x}, {y}), tensor({2, 3}, eighths_of(6, 7)), 3);
  EXPECT_TRUE(close(got[0], tensor({2, 2}, {-0.81640625f, -1.328125f, 0.1796875f, -1.3125f}), 1e-6));
  EXPECT_TRUE(close(got[1], tensor({2, 2}, {-0.37890625f, -1.08203125f, 1.0859375f, -1.6796875f}), 1e-6));
  EXPECT_TRUE(close(got[2], tensor({2, 2}, {-0.994140625f, -0.958984375f, 1.30859375f, -0.57421875f}), 1e-6));
}

// The kernel of integers has no activation, whatever the file says.
TEST(TfliteSvdf, HasTheIntegersOfLiteRt) {
  TfliteModel m;
  const auto quantised = [&](tfl::TensorType type, float scale, int64_t zero) {
    m.quantise_next({scale}, {zero});
    return type;
  };
  using enum tfl::TensorType;
  const auto x = m.tensor("x", {1, 3}, quantised(int8, 0.0625f, -3)),
             y = m.tensor("y", {1, 2}, quantised(int8, 0.05f, 7));
  const auto w = m.constant("w", {4, 3}, integers_of<int8_t>(12, 37, 1), quantised(int8, 0.0078125f, 0));
  const auto t =
      m.constant("t", {4, 3}, integers_of<int16_t>(12, 53, 2, 8), quantised(int16, 0.0009765625f, 0));
  const auto b = m.constant<int32_t>("b", {2}, {3000, -2000}, quantised(int32, 0.001f * 0.0009765625f, 0));
  const auto state = m.variable_tensor("state", {1, 12}, quantised(int16, 0.001f, 0));
  add_svdf(m, {x, w, t, b, state}, y, 2, tfl::FusedActivation::relu);
  const HostTensor given = HostTensor::from<int64_t>(DType::i8, {1, 3}, integers_of<int64_t>(3, 71, 3));
  const Tensors got = run_with_state(m.finish({x}, {y}), given, 3);
  EXPECT_EQ(got[0].to_ints(), (std::vector<int64_t>{-40, -19}));
  EXPECT_EQ(got[1].to_ints(), (std::vector<int64_t>{-127, -59}));
  EXPECT_EQ(got[2].to_ints(), (std::vector<int64_t>{-45, -114}));
}

TEST(TfliteSvdf, RanksThatDoNotFitAreRefused) {
  TfliteModel m;
  const auto x = m.tensor("x", {2, 3}), y = m.tensor("y", {2, 2});
  const auto w = m.floats("w", {4, 3}, eighths_of(12, 0)), t = m.floats("t", {4, 3}, eighths_of(12, 1)),
             state = m.variable_tensor("state", {2, 12});
  add_svdf(m, {x, w, t, -1, state}, y, 3, tfl::FusedActivation::none);
  EXPECT_VELLUM_ERROR(import_model(as_bytes(m.finish({x}, {y}))), ErrorCode::corrupt_model, "SVDF", "rank 3");
}

flatbuffers::Offset<void> volume_options(TfliteModel& m, tfl::FusedActivation activation) {
  return tfl::CreateConv3DOptions(m.builder(), tfl::Padding::same, 1, 1, 2, activation).Union();
}

TEST(TfliteVolumes, Conv3d) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 2, 3, 2, 2}), y = m.tensor("y", {1, 2, 2, 2, 3});
  const auto w = m.floats("w", {2, 3, 1, 2, 3}, eighths_of(36, 2)), b = m.floats("b", {3}, eighths_of(3, 3));
  m.op(132, {x, w, b}, {y}, tfl::BuiltinOptions::Conv3DOptions,
       volume_options(m, tfl::FusedActivation::relu));
  const HostTensor expected = tensor(
      {1, 2, 2, 2, 3}, {2.28125f, 0,         0.640625f, 2.140625f, 0,         0.828125f, 0.90625f, 0,
                        2.3125f,  0.578125f, 0,         0.71875f,  1.046875f, 0.921875f, 0,        1.234375f,
                        0.59375f, 0,         0.328125f, 0,         0,         0.421875f, 0,        0});
  EXPECT_TRUE(
      close(run_tflite(m.finish({x}, {y}), {tensor({1, 2, 3, 2, 2}, eighths_of(24, 1))})[0], expected, 1e-6));
}

TEST(TfliteVolumes, TransposedConv3d) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 2, 3, 2, 2}), y = m.tensor("y", {1, 2, 6, 2, 3});
  const auto size = m.ints("size", {1, 2, 6, 2, 3});
  const auto w = m.floats("w", {2, 3, 1, 3, 2}, eighths_of(36, 2)), b = m.floats("b", {3}, eighths_of(3, 3));
  m.op(141, {size, w, x, b}, {y}, tfl::BuiltinOptions::Conv3DOptions,
       volume_options(m, tfl::FusedActivation::none));
  const HostTensor expected =
      tensor({1, 2, 6, 2, 3},
             {0.28125f,   0.046875f,  0.875f,     0.5625f,    -0.1875f,   0.921875f, 1.203125f,  -0.890625f,
              -0.0625f,   1.53125f,   -1.078125f, 0.03125f,   1.828125f,  -0.28125f, 0.265625f,  1.6875f,
              -0.65625f,  0.453125f,  0,          0.59375f,   1.1875f,    0.328125f, 0.40625f,   1.28125f,
              1.8125f,    -1.5625f,   -0.6875f,   -0.453125f, -0.34375f,  0.296875f, 0.65625f,   0.21875f,
              1.375f,     0.984375f,  -0.765625f, -0.125f,    0.6875f,    -0.5625f,  0.3125f,    1.390625f,
              -0.890625f, 0.546875f,  1.75f,      -0.5625f,   0.3125f,    1.75f,     -0.796875f, 0.640625f,
              0.3125f,    -0.078125f, 0.328125f,  0.3125f,    -0.546875f, 0.984375f, -0.109375f, 0.03125f,
              0.4375f,    -0.109375f, -0.203125f, 0.765625f,  0.578125f,  1.375f,    1.640625f,  0.3125f,
              -0.15625f,  0.4375f,    -0.109375f, -1.234375f, -0.5f,      1.75f,     -0.40625f,  0.09375f});
  EXPECT_TRUE(
      close(run_tflite(m.finish({x}, {y}), {tensor({1, 2, 3, 2, 2}, eighths_of(24, 1))})[0], expected, 1e-6));
}

}  // namespace
}  // namespace vellum::test
