#include "graph/operators/elementwise/fixed_multiplier.hpp"

#include <algorithm>
#include <cmath>

namespace vellum {
namespace {

int32_t scaled_difference(int32_t a, int32_t b, const FixedPair& pair) {
  const int32_t unit = 1 << pair.sum_shift;
  return multiply(a * unit, pair.a) - multiply(b * unit, pair.b);
}

// Completes a pair of which both operands come to twice the larger step. `y`: the factor of their sum or of
// the square of their difference. Returns an empty pair if it is not below 1.
FixedPair pair_in_one_scale(FixedPair pair, double y) {
  if (!(y > 0.0 && y < 1.0)) return {};
  const double twice_most = 2.0 * static_cast<double>(std::max(pair.a_step, pair.b_step));
  pair.a = fixed_multiplier(static_cast<double>(pair.a_step) / twice_most);
  pair.b = fixed_multiplier(static_cast<double>(pair.b_step) / twice_most);
  pair.y = fixed_multiplier(y);
  return pair;
}

}  // namespace

FixedMultiplier fixed_multiplier(double x) {
  int shift = 0;
  const double fraction = std::frexp(x, &shift);
  auto multiplier = static_cast<int64_t>(std::round(fraction * 0x1p31));
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++shift;
  }
  if (x == 0.0 || shift < -31) return {};
  return {static_cast<int32_t>(multiplier), shift};
}

int32_t multiply(int32_t sum, const FixedMultiplier& x) {
  const int left = x.shift > 0 ? x.shift : 0, right = x.shift > 0 ? 0 : -x.shift;
  const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(sum) << left);
  const int64_t product = int64_t{shifted} * x.multiplier;
  const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  const auto high = static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
  const auto mask = static_cast<int32_t>((int64_t{1} << right) - 1);
  const int32_t threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return (high >> right) + ((high & mask) > threshold ? 1 : 0);
}

FixedPair fixed_sum(float a_step, float b_step, float y_step, int bits) {
  const int shift = bits == 16 ? 15 : 20;
  const double twice_most = 2.0 * static_cast<double>(std::max(a_step, b_step));
  const double y = twice_most / (static_cast<double>(1 << shift) * static_cast<double>(y_step));
  return pair_in_one_scale({.a_step = a_step, .b_step = b_step, .y_step = y_step, .sum_shift = shift}, y);
}

FixedPair fixed_squared_difference(float a_step, float b_step, float y_step) {
  constexpr int kShift = 7;  // the square of 255 * 2^7 is less than 2^31
  const double twice_most = 2.0 * static_cast<double>(std::max(a_step, b_step));
  const double y =
      twice_most * twice_most / static_cast<double>(static_cast<float>(1 << (2 * kShift)) * y_step);
  return pair_in_one_scale({.a_step = a_step, .b_step = b_step, .y_step = y_step, .sum_shift = kShift}, y);
}

FixedPair fixed_product(float a_step, float b_step, float y_step, int bits) {
  // Times 255 * 255 or 2^15 * 2^15 that is less than 2^31.
  const double most_shifted = bits == 16 ? 1.0 : 0x1p15;
  const auto y = static_cast<double>(a_step * b_step / y_step);
  if (!(y > 0.0 && y < most_shifted)) return {};
  return {a_step, b_step, y_step, {}, {}, fixed_multiplier(y)};
}

int32_t add_integers(int32_t a, int32_t b, const FixedPair& pair) {
  const int32_t unit = 1 << pair.sum_shift;
  return multiply(multiply(a * unit, pair.a) + multiply(b * unit, pair.b), pair.y);
}

int32_t subtract_integers(int32_t a, int32_t b, const FixedPair& pair) {
  return multiply(scaled_difference(a, b, pair), pair.y);
}

int32_t square_integers_difference(int32_t a, int32_t b, const FixedPair& pair) {
  const int32_t difference = scaled_difference(a, b, pair);
  return multiply(difference * difference, pair.y);
}

int32_t multiply_integers(int32_t a, int32_t b, const FixedPair& pair) { return multiply(a * b, pair.y); }

int32_t integer_of(float value, float step) { return static_cast<int32_t>(std::nearbyint(value / step)); }

}  // namespace vellum
