#include "quantize/weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vellum::quantization {
namespace {

// Visits every element with its index along the axis.
template <typename Visit>
void for_each_along(const Shape& shape, size_t axis, const Visit& visit) {
  int64_t inner = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const auto count = static_cast<size_t>(element_count(shape));
  for (size_t i = 0; i < count; ++i)
    visit(i, static_cast<size_t>(static_cast<int64_t>(i) / inner % shape[axis]));
}

float largest_integer(int bits) { return static_cast<float>((1 << (bits - 1)) - 1); }

float scale_of(float largest, int bits) {
  const float scale = largest / largest_integer(bits);
  return scale >= std::numeric_limits<float>::min() ? scale : 1.0f;
}

int8_t integer_of(float value, float scale, int bits) {
  const float most = largest_integer(bits);
  return static_cast<int8_t>(std::clamp(std::nearbyint(value / scale), -most, most));
}

HostTensor round_weights(const HostTensor& weights, const std::vector<float>& scales, size_t axis, int bits) {
  const auto values = weights.as<float>();
  HostTensor integers(DType::i8, weights.shape());
  const auto result = integers.mutable_as<int8_t>();
  for_each_along(weights.shape(), axis,
                 [&](size_t i, size_t channel) { result[i] = integer_of(values[i], scales[channel], bits); });
  return integers;
}

}  // namespace

IntegerWeights integer_weights(const HostTensor& weights, size_t axis, int bits) {
  IntegerWeights result;
  result.axis = axis;
  result.scales.assign(static_cast<size_t>(weights.shape()[axis]), 0.0f);
  const auto values = weights.as<float>();
  for_each_along(weights.shape(), axis, [&](size_t i, size_t channel) {
    result.scales[channel] = std::max(result.scales[channel], std::fabs(values[i]));
  });
  for (float& scale : result.scales) scale = scale_of(scale, bits);
  result.integers = round_weights(weights, result.scales, axis, bits);
  return result;
}

HostTensor real_weights(const IntegerWeights& weights) {
  HostTensor result(DType::f32, weights.integers.shape());
  const auto integers = weights.integers.as<int8_t>();
  const auto values = result.mutable_as<float>();
  for_each_along(weights.integers.shape(), weights.axis, [&](size_t i, size_t channel) {
    values[i] = static_cast<float>(integers[i]) * weights.scales[channel];
  });
  return result;
}

void fit_biases(IntegerWeights& weights, const HostTensor& floats, const HostTensor& bias, float input_scale,
                int bits) {
  constexpr float kMost = 2e9f;
  bool changed = false;
  const auto values = bias.as<float>();
  for (size_t m = 0; m < values.size(); ++m) {
    float& scale = weights.scales[m % weights.scales.size()];
    const float least = std::fabs(values[m]) / kMost / input_scale;
    changed = changed || scale < least;
    scale = std::max(scale, least);
  }
  if (changed) weights.integers = round_weights(floats, weights.scales, weights.axis, bits);
}

HostTensor integer_biases(const HostTensor& bias, const std::vector<float>& steps) {
  const auto values = bias.as<float>();
  HostTensor result(DType::i32, bias.shape());
  const auto integers = result.mutable_as<int32_t>();
  for (size_t m = 0; m < values.size(); ++m)
    integers[m] =
        static_cast<int32_t>(std::nearbyint(static_cast<double>(values[m]) / static_cast<double>(steps[m])));
  return result;
}

BlockedWeights blocked_weights(const HostTensor& matrix, size_t axis, int64_t block) {
  constexpr int kBits = 4;
  const Shape& shape = matrix.shape();
  Shape blocks = shape;
  blocks[axis] = (shape[axis] + block - 1) / block;
  const auto values = matrix.as<float>();
  BlockedWeights result{HostTensor(DType::i8, shape), HostTensor(DType::f32, blocks)};
  const auto scales = result.scales.mutable_as<float>();
  const auto block_of = [&](size_t i) {
    const auto row = static_cast<int64_t>(i) / shape[1], column = static_cast<int64_t>(i) % shape[1];
    return static_cast<size_t>(axis == 0 ? row / block * blocks[1] + column
                                         : row * blocks[1] + column / block);
  };
  std::fill(scales.begin(), scales.end(), 0.0f);
  for (size_t i = 0; i < values.size(); ++i)
    scales[block_of(i)] = std::max(scales[block_of(i)], std::fabs(values[i]));
  for (float& scale : scales) scale = scale_of(scale, kBits);
  const auto integers = result.integers.mutable_as<int8_t>();
  for (size_t i = 0; i < values.size(); ++i) integers[i] = integer_of(values[i], scales[block_of(i)], kBits);
  return result;
}

}  // namespace vellum::quantization
