// Quantised TFLite models: integers outside, reals inside; values computed by hand.
#include <gtest/gtest.h>

#include <cstdint>

#include "graph/operators/conv/conv.hpp"
#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

std::vector<int64_t> run(const std::string& bytes, const HostTensor& input) {
  const HostTensor inputs[] = {input};
  return evaluate(optimise(import_model(as_bytes(bytes)), {}), inputs)[0].to_ints();
}

// x = (1, -2) in halves from 128; w = (1, 2), (3, -1); b = (0.5, 1000): y = (-2.5, 1005), in steps of 1
// from 10.
TEST(TfliteQuantised, FullyConnectedPerTensor) {
  TfliteModel m;
  m.quantise_next({0.5f}, {128});
  const auto x = m.tensor("x", {1, 2}, tfl::TensorType::uint8);
  m.quantise_next({1.0f}, {100});
  const auto w = m.constant<uint8_t>("w", {2, 2}, {101, 102, 103, 99}, tfl::TensorType::uint8);
  m.quantise_next({0.5f}, {0});
  const auto b = m.constant<int32_t>("b", {2}, {1, 2000}, tfl::TensorType::int32);
  m.quantise_next({1.0f}, {10});
  const auto y = m.tensor("y", {1, 2}, tfl::TensorType::uint8);
  m.op(9, {x, w, b}, {y}, tfl::BuiltinOptions::FullyConnectedOptions,
       tfl::CreateFullyConnectedOptions(m.builder()).Union());
  const std::vector<int64_t> given{130, 124};
  // -2.5 is rounded up; 1005 saturates.
  EXPECT_EQ(run(m.finish({x}, {y}), HostTensor::from<int64_t>(DType::u8, {1, 2}, given)),
            (std::vector<int64_t>{8, 255}));
}

// One input channel of 4 by weights 2 * 0.5 and 2 * 3: 4 and 24, halved.
TEST(TfliteQuantised, ConvPerChannel) {
  TfliteModel m;
  m.quantise_next({1.0f}, {-1});
  const auto x = m.tensor("x", {1, 1, 1, 1}, tfl::TensorType::int8);
  m.quantise_next({0.5f, 3.0f}, {0, 0}, 0);
  const auto w = m.constant<int8_t>("w", {2, 1, 1, 1}, {2, 2}, tfl::TensorType::int8);
  m.quantise_next({2.0f}, {-3});
  const auto y = m.tensor("y", {1, 1, 1, 2}, tfl::TensorType::int8);
  m.op(3, {x, w}, {y}, tfl::BuiltinOptions::Conv2DOptions,
       tfl::CreateConv2DOptions(m.builder(), tfl::Padding::same, 1, 1).Union());
  const std::vector<int64_t> given{3};
  EXPECT_EQ(run(m.finish({x}, {y}), HostTensor::from<int64_t>(DType::i8, {1, 1, 1, 1}, given)),
            (std::vector<int64_t>{-1, 9}));
}

// As above, and biases of 4 and 2 in steps of 0.5 and 3, whose axis is that of the weights of a depthwise
// layer: 6 and 30, halved.
// y = (2 x, 0) + (0.5, whatever), in steps of 2: the second channel has the multiplier 0, so that its bias
// has no effect. 3.5 steps are rounded up in integers; -0.5 to -1, away from zero.
TEST(TfliteQuantised, ChannelsOfNearlyNoWeight) {
  TfliteModel m;
  m.quantise_next({1.0f}, {-1});
  const auto x = m.tensor("x", {1, 2, 1, 1}, tfl::TensorType::int8);
  m.quantise_next({0.5f, 1e-20f}, {0, 0}, 0);
  const auto w = m.constant<int8_t>("w", {2, 1, 1, 1}, {4, 100}, tfl::TensorType::int8);
  m.quantise_next({0.5f, 1e-20f}, {0, 0}, 0);
  const auto b = m.constant<int32_t>("b", {2}, {2, INT32_MAX}, tfl::TensorType::int32);
  m.quantise_next({2.0f}, {-3});
  const auto y = m.tensor("y", {1, 2, 1, 2}, tfl::TensorType::int8);
  m.op(3, {x, w, b}, {y}, tfl::BuiltinOptions::Conv2DOptions,
       tfl::CreateConv2DOptions(m.builder(), tfl::Padding::same, 1, 1).Union());
  const std::string file = m.finish({x}, {y});
  EXPECT_EQ(run(file, HostTensor::from<int64_t>(DType::i8, {1, 2, 1, 1}, std::vector<int64_t>{2, -2})),
            (std::vector<int64_t>{1, -3, -4, -3}));
  bool in_integers = false;
  for (const Node& node : import_model(as_bytes(file)).nodes)
    if (const auto* conv = dynamic_cast<const Conv*>(node.op.get()))
      in_integers = conv->fixed_point != nullptr;
  EXPECT_TRUE(in_integers);
}

TEST(TfliteQuantised, BiasesWithTheAxisOfTheirWeights) {
  TfliteModel m;
  m.quantise_next({1.0f}, {-1});
  const auto x = m.tensor("x", {1, 1, 1, 2}, tfl::TensorType::int8);
  m.quantise_next({0.5f, 3.0f}, {0, 0}, 3);
  const auto w = m.constant<int8_t>("w", {1, 1, 1, 2}, {2, 2}, tfl::TensorType::int8);
  m.quantise_next({0.5f, 3.0f}, {0, 0}, 3);
  const auto b = m.constant<int32_t>("b", {2}, {4, 2}, tfl::TensorType::int32);
  m.quantise_next({2.0f}, {-3});
  const auto y = m.tensor("y", {1, 1, 1, 2}, tfl::TensorType::int8);
  m.op(4, {x, w, b}, {y}, tfl::BuiltinOptions::DepthwiseConv2DOptions,
       tfl::CreateDepthwiseConv2DOptions(m.builder(), tfl::Padding::same, 1, 1).Union());
  const std::vector<int64_t> given{3, 3};
  EXPECT_EQ(run(m.finish({x}, {y}), HostTensor::from<int64_t>(DType::i8, {1, 1, 1, 2}, given)),
            (std::vector<int64_t>{0, 12}));
}

// x = (100, -200) in hundredths; w = (1, 2), (-100, 100); b = (7, 0): y = (-2.93, -300), in steps of 1/128.
TEST(TfliteQuantised, SixteenBits) {
  TfliteModel m;
  m.quantise_next({0.01f}, {0});
  const auto x = m.tensor("x", {1, 1, 1, 2}, tfl::TensorType::int16);
  m.quantise_next({1.0f}, {0});
  const auto w = m.constant<int8_t>("w", {2, 1, 1, 2}, {1, 2, -100, 100}, tfl::TensorType::int8);
  m.quantise_next({0.01f}, {0});
  const auto b = m.constant<int64_t>("b", {2}, {7, 0}, tfl::TensorType::int64);
  m.quantise_next({1.0f / 128.0f}, {0});
  const auto y = m.tensor("y", {1, 1, 1, 2}, tfl::TensorType::int16);
  m.op(3, {x, w, b}, {y}, tfl::BuiltinOptions::Conv2DOptions,
       tfl::CreateConv2DOptions(m.builder(), tfl::Padding::same, 1, 1).Union());
  const std::vector<int64_t> given{100, -200};
  const std::string file = m.finish({x}, {y});
  EXPECT_EQ(import_model(as_bytes(file)).values[0].type.dtype, DType::i16);
  // -2.93 is -375 steps; -300 would be -38400 and saturates.
  EXPECT_EQ(run(file, HostTensor::from<int64_t>(DType::i16, {1, 1, 1, 2}, given)),
            (std::vector<int64_t>{-375, -32768}));
}

// 0.3 + 0.3 in steps of 1.2: halves, which LiteRT rounds away from zero.
TEST(TfliteQuantised, SumsOf16Bits) {
  TfliteModel m;
  m.quantise_next({0.3f}, {0});
  const auto x = m.tensor("x", {2}, tfl::TensorType::int16);
  m.quantise_next({1.2f}, {0});
  const auto y = m.tensor("y", {2}, tfl::TensorType::int16);
  m.op(0, {x, x}, {y}, tfl::BuiltinOptions::AddOptions, tfl::CreateAddOptions(m.builder()).Union());
  const std::vector<int64_t> given{1, -1};
  EXPECT_EQ(run(m.finish({x}, {y}), HostTensor::from<int64_t>(DType::i16, {2}, given)),
            (std::vector<int64_t>{1, -1}));
}

TEST(TfliteQuantised, FloatsBetweenTwoIntegersGoAwayFromZero) {
  TfliteModel m;
  const auto x = m.tensor("x", {8});
  m.quantise_next({0.5f}, {-1});
  const auto y = m.tensor("y", {8}, tfl::TensorType::int8);
  m.op(114, {x}, {y});
  const std::vector<float> given{0.25f, 0.75f, 1.25f, -0.25f, -0.75f, 0x1.fffffep-3f, 100.0f, -100.0f};
  EXPECT_EQ(run(m.finish({x}, {y}), HostTensor::f32({8}, given)),
            (std::vector<int64_t>{0, 1, 2, -2, -3, -1, 127, -128}));
}

// LiteRT compares 256 x * 0.001, rounded: 0 and 1 come to 0, 2 to 1.
TEST(TfliteQuantised, ComparesRoundedIntegers) {
  TfliteModel m;
  m.quantise_next({0.001f}, {0});
  const auto x = m.tensor("x", {4}, tfl::TensorType::int8);
  m.quantise_next({0.001f}, {0});
  const auto zero = m.constant<int8_t>("zero", {1}, {0}, tfl::TensorType::int8);
  const auto y = m.tensor("y", {4}, tfl::TensorType::boolean);
  m.op(61, {x, zero}, {y});
  const std::vector<int64_t> given{-2, 0, 1, 2};
  EXPECT_EQ(run(m.finish({x}, {y}), HostTensor::from<int64_t>(DType::i8, {4}, given)),
            (std::vector<int64_t>{0, 0, 0, 1}));
}

TEST(TfliteQuantised, ZeroPointsAreOfTheType) {
  TfliteModel m;
  m.quantise_next({1.0f}, {200});
  const auto x = m.tensor("x", {1}, tfl::TensorType::int8);
  m.quantise_next({1.0f}, {0});
  const auto y = m.tensor("y", {1}, tfl::TensorType::int8);
  m.op(114, {x}, {y});
  const std::string file = m.finish({x}, {y});
  EXPECT_THROW(import_model(as_bytes(file)), Error);
}

}  // namespace
}  // namespace vellum::test
