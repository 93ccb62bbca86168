// Weights and biases as integers, by numbers computed by hand.
#include "quantize/weights.hpp"

#include <gtest/gtest.h>

#include "support/tensors.hpp"

namespace vellum::quantization {
namespace {

using test::close;

std::vector<int64_t> integers(const HostTensor& tensor) { return tensor.to_ints(); }

TEST(QuantizeWeights, EachChannelHasItsScale) {
  const HostTensor weights = HostTensor::f32({2, 2}, std::array{1.27f, -0.635f, 0.0f, 25.4f});
  const IntegerWeights rows = integer_weights(weights, 0, 8);
  EXPECT_EQ(integers(rows.integers), (std::vector<int64_t>{127, -64, 0, 127}));  // 63.5 goes to the even 64
  EXPECT_FLOAT_EQ(rows.scales[0], 0.01f);
  EXPECT_FLOAT_EQ(rows.scales[1], 0.2f);
  EXPECT_TRUE(
      close(real_weights(rows), HostTensor::f32({2, 2}, std::array{1.27f, -0.64f, 0.0f, 25.4f}), 1e-6));
  const IntegerWeights columns = integer_weights(weights, 1, 8);
  EXPECT_EQ(integers(columns.integers), (std::vector<int64_t>{127, -3, 0, 127}));
}

TEST(QuantizeWeights, ChannelsOfZerosAndFourBits) {
  const HostTensor weights = HostTensor::f32({2, 2}, std::array{0.0f, 0.0f, 7.0f, -2.4f});
  const IntegerWeights rows = integer_weights(weights, 0, 4);
  EXPECT_EQ(integers(rows.integers), (std::vector<int64_t>{0, 0, 7, -2}));
  EXPECT_EQ(rows.scales, (std::vector<float>{1.0f, 1.0f}));
}

TEST(QuantizeWeights, BlocksAlongTheSum) {
  HostTensor matrix(DType::f32, {5, 1});
  const std::vector<float> values{7, -3.5f, 70, 14, 0.7f};
  std::copy(values.begin(), values.end(), matrix.mutable_as<float>().begin());
  const BlockedWeights blocks = blocked_weights(matrix, 0, 2);
  EXPECT_EQ(integers(blocks.integers), (std::vector<int64_t>{7, -4, 7, 1, 7}));
  EXPECT_TRUE(close(blocks.scales, HostTensor::f32({3, 1}, std::array{1.0f, 10.0f, 0.1f}), 1e-6));
}

// A bias of 1e6 in steps of 1e-6 * 1e-4 would need more than 32 bits.
TEST(QuantizeWeights, ScalesGrowUntilBiasesFit) {
  const HostTensor floats = HostTensor::f32({1, 1}, std::array{1.27e-4f});
  const HostTensor bias = HostTensor::f32({1}, std::array{1e6f});
  IntegerWeights weights = integer_weights(floats, 0, 8);
  fit_biases(weights, floats, bias, 1e-6f, 8);
  const std::vector<float> steps{1e-6f * weights.scales[0]};
  EXPECT_NEAR(static_cast<double>(integer_biases(bias, steps).to_ints()[0]) * static_cast<double>(steps[0]),
              1e6, 1.0);
  EXPECT_EQ(integers(weights.integers), (std::vector<int64_t>{0}));
}

}  // namespace
}  // namespace vellum::quantization
