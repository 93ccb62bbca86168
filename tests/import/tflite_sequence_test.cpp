// RFFT2D and operators on complex numbers. tests/oracles/litert_operators.py
// prints these values, which LiteRT's reference kernels compute.
#include <gtest/gtest.h>

#include <cmath>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

HostTensor tensor(const Shape& shape, const std::vector<float>& elements) {
  return HostTensor::f32(shape, elements);
}

std::vector<HostTensor> run(const std::string& bytes, const std::vector<HostTensor>& inputs) {
  return evaluate(optimise(import_model(as_bytes(bytes)), {}), inputs);
}

// The transform of 3 x 5 numbers, cut or padded to height x width: real parts, imaginary parts, absolute
// values.
std::string fourier_model(int32_t height, int32_t width) {
  TfliteModel m;
  const int32_t bins = width / 2 + 1;
  const auto x = m.tensor("x", {3, 5});
  const auto spectrum = m.tensor("spectrum", {height, bins}, tfl::TensorType::complex64);
  std::vector<int32_t> outputs;
  for (const char* name : {"real", "imaginary", "absolute"})
    outputs.push_back(m.tensor(name, {height, bins}));
  m.op(131, {x, m.ints("size", {height, width})}, {spectrum});
  m.op(134, {spectrum}, {outputs[0]});
  m.op(133, {spectrum}, {outputs[1]});
  m.op(135, {spectrum}, {outputs[2]});
  return m.finish({x}, outputs);
}

void expect_spectrum(int32_t height, int32_t width, const std::vector<float>& parts) {
  const Shape shape{height, width / 2 + 1};
  const auto got = run(fourier_model(height, width),
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
  EXPECT_VELLUM_ERROR(run(fourier_model(0, 8), {tensor({3, 5}, std::vector<float>(15))}),
                      ErrorCode::corrupt_model, "a transform of size 0x8");
}

}  // namespace
}  // namespace vellum::test
