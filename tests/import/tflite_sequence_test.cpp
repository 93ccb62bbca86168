// UNIDIRECTIONAL_SEQUENCE_LSTM, RFFT2D and operators on complex numbers. tests/oracles/litert_operators.py
// prints these values, which LiteRT's reference kernels compute.
#include <gtest/gtest.h>

#include <cmath>

#include "import/import.hpp"
#include "import/run_tflite.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

// The transform of 3 x 5 numbers, cut or padded to height x width: real parts, imaginary parts, absolute
// values, and the complex numbers cast to floats.
std::string fourier_model(int32_t height, int32_t width) {
  TfliteModel m;
  const int32_t bins = width / 2 + 1;
  const auto x = m.tensor("x", {3, 5});
  const auto spectrum = m.tensor("spectrum", {height, bins}, tfl::TensorType::complex64);
  std::vector<int32_t> outputs;
  for (const char* name : {"real", "imaginary", "absolute", "cast"})
    outputs.push_back(m.tensor(name, {height, bins}));
  m.op(131, {x, m.ints("size", {height, width})}, {spectrum});
  m.op(134, {spectrum}, {outputs[0]});
  m.op(133, {spectrum}, {outputs[1]});
  m.op(135, {spectrum}, {outputs[2]});
  m.op(53, {spectrum}, {outputs[3]});
  return m.finish({x}, outputs);
}

void expect_spectrum(int32_t height, int32_t width, const std::vector<float>& parts) {
  const Shape shape{height, width / 2 + 1};
  const auto got = run_tflite(fourier_model(height, width),
                              {tensor({3, 5}, {1, 2, -1, 0.5f, 3, 0, -2, 1, 4, 1, 2, 2, 0, -1, -3})});
  std::vector<float> real, imaginary, absolute;
  for (size_t i = 0; i < parts.size(); i += 2) {
    real.push_back(parts[i]);
    imaginary.push_back(parts[i + 1]);
    absolute.push_back(std::hypot(parts[i], parts[i + 1]));
  }
  EXPECT_TRUE(close(got[0], tensor(shape, real), 2e-6));
  EXPECT_TRUE(close(got[1], tensor(shape, imaginary), 2e-6));
  EXPECT_TRUE(close(got[2], tensor(shape, absolute), 2e-6));
  EXPECT_TRUE(close(got[3], got[0], 0.0)) << "a cast keeps the real part";
}

TEST(TfliteFourier, RealTransformOfPaddedAndCutRows) {
  expect_spectrum(1, 8,
                  {5.5f, 0, -0.939339817f, -0.767766953f, 5, -1.5f, -3.06066012f, -2.76776695f, 0.5f, 0});
  expect_spectrum(4, 4, {8.5f, 0, 3, 1.5f,   -2.5f, 0, -0.5f, -3, 6,  2.5f, -3.5f, 1,
                         2.5f, 0, 5, -10.5f, -0.5f, 0, -0.5f, 3,  -6, 0.5f, -3.5f, -1});
  expect_spectrum(2, 2, {1, 0, 1, 0, 5, 0, -3, 0});
}

TEST(TfliteFourier, ComplexNumbersAreReadByTheirOwnOperatorsOnly) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 4}), y = m.tensor("y", {1, 3}, tfl::TensorType::complex64),
             z = m.tensor("z", {1, 3}, tfl::TensorType::complex64);
  m.op(131, {x, m.ints("size", {1, 4})}, {y});
  m.op(101, {y}, {z});  // ABS
  EXPECT_VELLUM_ERROR(import_model(as_bytes(m.finish({x}, {z}))), ErrorCode::unsupported,
                      "complex numbers of tensor 'z'");
  TfliteModel real;
  const auto a = real.tensor("a", {1, 4}), b = real.tensor("b", {1, 4});
  real.op(135, {a}, {b});
  EXPECT_VELLUM_ERROR(import_model(as_bytes(real.finish({a}, {b}))), ErrorCode::corrupt_model, "'a'",
                      "no complex numbers");
  EXPECT_VELLUM_ERROR(run_tflite(fourier_model(0, 8), {tensor({3, 5}, std::vector<float>(15))}),
                      ErrorCode::corrupt_model, "a transform of size 0x8");
}

// Eighths in -1...1.
std::vector<float> eighths(int32_t count, int32_t seed) {
  std::vector<float> values;
  for (int32_t i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 7 + seed * 5) % 17 - 8) / 8);
  return values;
}

struct LstmForm {
  bool coupled = false, time_major = false, int8_weights = false;
  float cell_clip = 0.0f;
  bool projects = false;
};

constexpr int32_t kSteps = 3, kBatches = 2, kWidth = 3, kCells = 2;

std::string lstm_model(const LstmForm& form) {
  TfliteModel m;
  const auto sequence = [&](int32_t width) {
    return form.time_major ? std::vector<int32_t>{kSteps, kBatches, width}
                           : std::vector<int32_t>{kBatches, kSteps, width};
  };
  const auto matrix = [&](const std::string& name, int32_t columns, int32_t seed) {
    const std::vector<float> values = eighths(kCells * columns, seed);
    if (!form.int8_weights) return m.floats(name, {kCells, columns}, values);
    std::vector<int8_t> integers;
    for (const float value : values) integers.push_back(static_cast<int8_t>(value * 8));
    m.quantise_next({0.125f}, {0});
    return m.constant(name, {kCells, columns}, integers, tfl::TensorType::int8);
  };
  const auto x = m.tensor("x", sequence(kWidth));
  std::vector<int32_t> inputs{x};
  for (int32_t g = 0; g < 4; ++g) inputs.push_back(matrix("w" + std::to_string(g), kWidth, g));
  for (int32_t g = 4; g < 8; ++g) inputs.push_back(matrix("r" + std::to_string(g), kCells, g));
  for (int32_t g = 8; g < 11; ++g)
    inputs.push_back(form.coupled ? m.floats("p" + std::to_string(g), {kCells}, eighths(kCells, g)) : -1);
  for (int32_t g = 11; g < 15; ++g)
    inputs.push_back(m.floats("b" + std::to_string(g), {kCells}, eighths(kCells, g)));
  if (form.coupled)
    for (const size_t gate : {1, 5, 9, 12}) inputs[gate] = -1;
  inputs.push_back(form.projects ? m.floats("projection", {kCells, kCells}, eighths(4, 1)) : -1);
  inputs.push_back(-1);
  for (const char* name : {"h", "c"}) inputs.push_back(m.variable_tensor(name, {kBatches, kCells}));
  const auto y = m.tensor("y", sequence(kCells));
  m.op(44, inputs, {y}, tfl::BuiltinOptions::UnidirectionalSequenceLSTMOptions,
       tfl::CreateUnidirectionalSequenceLSTMOptions(m.builder(), tfl::FusedActivation::tanh, form.cell_clip,
                                                    form.time_major)
           .Union());
  return m.finish({x}, {y});
}

// `first` and `second`: what two runs of LiteRT compute, which keeps the state in between.
void expect_runs(const LstmForm& form, const std::vector<float>& first, const std::vector<float>& second,
                 double tolerance = 1e-6) {
  const Graph graph = optimise(import_model(as_bytes(lstm_model(form))), {});
  HostTensor x = tensor({kSteps, kBatches, kWidth}, eighths(kSteps * kBatches * kWidth, 20));
  const Shape shape = form.time_major ? Shape{kSteps, kBatches, kCells} : Shape{kBatches, kSteps, kCells};
  if (!form.time_major) {
    std::vector<float> batches_first;
    const auto values = x.to_floats();
    for (size_t b = 0; b < kBatches; ++b)
      for (size_t s = 0; s < kSteps; ++s)
        for (size_t i = 0; i < kWidth; ++i) batches_first.push_back(values[(s * kBatches + b) * kWidth + i]);
    x = tensor({kBatches, kSteps, kWidth}, batches_first);
  }
  ASSERT_EQ(graph.inputs.size(), 3u);
  EXPECT_EQ(graph.values[graph.outputs[1]].name, "h.next");
  EXPECT_EQ(graph.values[graph.outputs[2]].name, "c.next");
  const auto initial = [&](size_t i) { return graph.values[graph.inputs[i]].initial_value.value(); };
  const auto one = evaluate(graph, std::vector{x, initial(1), initial(2)});
  EXPECT_TRUE(close(one[0], tensor(shape, first), tolerance));
  const auto two = evaluate(graph, std::vector{x, one[1], one[2]});
  EXPECT_TRUE(close(two[0], tensor(shape, second), tolerance));
}

TEST(TfliteLstm, KeepsItsStateInInputsAndOutputs) {
  expect_runs({},
              {0.140443116f, 0.0798933953f, 0.0367452577f, -0.216424033f, 0.172020644f, -0.0396423899f,
               0.0603444837f, -0.250434279f, 0.154549599f, 0.0193511005f, 0.10684678f, -0.240462601f},
              {0.176872164f, 0.0615082793f, 0.0463903584f, -0.23237513f, 0.181043878f, -0.0467626452f,
               0.126609981f, -0.325945437f, 0.182037473f, 0.0172460563f, 0.113515913f, -0.239193946f});
}

TEST(TfliteLstm, CoupledGatesAndPeepholes) {
  expect_runs({.coupled = true},
              {0.383741409f, 0.0796934292f, 0.101595983f, -0.00706779491f, 0.461123765f, 0.0786764026f,
               0.0536656827f, -0.167793751f, 0.343147576f, 0.0173807535f, 0.171294466f, -0.186517268f},
              {0.483750224f, 0.166899309f, 0.148373351f, 0.0400162563f, 0.49881494f, 0.102548957f,
               0.179700449f, -0.253168672f, 0.400283217f, 0.0172793213f, 0.194912225f, -0.189034894f});
}

TEST(TfliteLstm, StepsBeforeBatches) {
  expect_runs({.time_major = true},
              {0.140443102f, 0.0798934028f, 0.0603444763f, -0.250434279f, 0.0367452428f, -0.216424048f,
               0.154549584f, 0.0193510987f, 0.172020659f, -0.0396423899f, 0.106846765f, -0.240462601f},
              {0.176872179f, 0.061508283f, 0.126609966f, -0.325945437f, 0.0463903435f, -0.23237513f,
               0.182037458f, 0.0172460489f, 0.181043893f, -0.0467626117f, 0.113515899f, -0.239193916f});
}

// LiteRT rounds inputs and states to 8 bits here; Vellum does not.
TEST(TfliteLstm, WeightsOf8Bits) {
  expect_runs({.int8_weights = true},
              {0.140504077f, 0.0799098685f, 0.0367288031f, -0.216670543f, 0.172291324f, -0.0396160223f,
               0.0602837875f, -0.25008896f, 0.154318884f, 0.0195396692f, 0.106785923f, -0.240277886f},
              {0.176972687f, 0.0614764914f, 0.0463771522f, -0.232628405f, 0.181460753f, -0.0466960184f,
               0.12662138f, -0.325686514f, 0.182014197f, 0.0173715539f, 0.113464311f, -0.239021733f},
              5e-4);
}

TEST(TfliteLstm, CellsAreClipped) {
  expect_runs({.cell_clip = 0.125f},
              {0.07463523f, 0.05974897f, 0.021222543f, -0.0562420003f, 0.070296146f, 0.047114417f,
               0.0346020721f, -0.105195493f, 0.0544744581f, 0.0262769125f, 0.0304588843f, -0.105048142f},
              {0.0727890059f, 0.0611107871f, 0.0212509912f, -0.0561765134f, 0.070295386f, 0.0471042506f,
               0.0339404307f, -0.106241539f, 0.054492183f, 0.0264770929f, 0.0304585304f, -0.105047166f});
}

TEST(TfliteLstm, FormsThatAreNotReadAreNamed) {
  EXPECT_VELLUM_ERROR(import_model(as_bytes(lstm_model({.cell_clip = -1.0f}))), ErrorCode::corrupt_model,
                      "UNIDIRECTIONAL_SEQUENCE_LSTM", "clips cells to -1");
  EXPECT_VELLUM_ERROR(import_model(as_bytes(lstm_model({.projects = true}))), ErrorCode::unsupported,
                      "UNIDIRECTIONAL_SEQUENCE_LSTM", "projection");
}

}  // namespace
}  // namespace vellum::test
