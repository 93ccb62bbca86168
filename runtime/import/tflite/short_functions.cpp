#include "import/tflite/short_functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace vellum::tflite {
namespace {

constexpr int32_t kSegments = 255;

// 65536 * sigmoid(i / 24), of which the functions use piecewise linear interpolation. Half of the
// interpolation's error in the middle of the segment after `i` is subtracted.
std::array<int32_t, kSegments + 1> sigmoid_table() {
  const auto value = [](double i) { return 65536.0 / (1.0 + std::exp(-i / 24.0)); };
  std::array<int32_t, kSegments + 1> table;
  for (int32_t i = 0; i < kSegments; ++i) {
    const double error = (value(i) + value(i + 1)) / 2.0 - value(i + 0.5);
    table[static_cast<size_t>(i)] = static_cast<int32_t>(std::lround(value(i) - error / 2.0));
  }
  table[kSegments] = 65535;
  return table;
}

// Converts integers to multiples of 1 / (3 * 4096).
struct InputScale {
  int64_t multiplier = 0;
  int32_t right_shift = 0;
  int64_t operator()(int32_t integer) const {
    const int64_t half = right_shift > 0 ? int64_t{1} << (right_shift - 1) : 0;
    return (integer * multiplier + half) >> right_shift;
  }
};

// A scale of 2^(n - 12) with n <= `most_left_shift` is exact. Other multipliers have 15 bits.
InputScale input_scale(float scale, int32_t most_left_shift) {
  const float power = std::log(scale) * (1.0f / std::log(2.0f)), rounded = std::round(power);
  const auto left_shift = static_cast<int32_t>(12.0f + rounded);
  if (std::abs(power - rounded) < 1e-3f && left_shift >= 0 && left_shift <= most_left_shift)
    return {int64_t{3} << left_shift, 0};
  double multiplier = static_cast<double>(scale) * 4096.0 * 3.0;
  InputScale result;
  while (multiplier <= 32767.0 / 2.0 && result.right_shift <= 30) {
    ++result.right_shift;
    multiplier *= 2.0;
  }
  result.multiplier = static_cast<int64_t>(multiplier);
  return result;
}

// Returns the sigmoid of a magnitude in units of 2^-16, times 2^bits. The segments are 2^bits wide.
int64_t interpolated(const std::array<int32_t, kSegments + 1>& table, int64_t magnitude, int32_t bits,
                     int64_t saturated) {
  const int64_t segment = magnitude >> bits, rest = magnitude & ((1 << bits) - 1);
  if (segment >= kSegments) return saturated;
  const int64_t low = table[static_cast<size_t>(segment)], high = table[static_cast<size_t>(segment + 1)];
  return (low << bits) + rest * (high - low);
}

}  // namespace

ByteFunction logistic_of_16_bits(float x_scale) {
  return [scaled = input_scale(x_scale, 0), table = sigmoid_table()](int32_t integer) {
    const int64_t x = scaled(integer), value = interpolated(table, std::abs(x), 9, int64_t{0x7fff} << 10);
    const int64_t sum = x >= 0 ? value + (1 << 9) : (int64_t{1} << 25) - value + (1 << 9) - 1;
    return static_cast<int32_t>(sum >> 10);
  };
}

// tanh(x) = 2 * sigmoid(2 * x) - 1
ByteFunction tanh_of_16_bits(float x_scale) {
  return [scaled = input_scale(x_scale, 1), table = sigmoid_table()](int32_t integer) {
    const int64_t x = scaled(integer), value = interpolated(table, std::abs(x), 8, int64_t{0xffff} << 8);
    const int64_t sum = x >= 0 ? value - (1 << 23) + (1 << 7) : -value + (1 << 23) + (1 << 7) - 1;
    return static_cast<int32_t>(sum >> 8);
  };
}

}  // namespace vellum::tflite
