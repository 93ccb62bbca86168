#include "graph/operators/elementwise/fixed_functions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace vellum {
namespace {

constexpr int32_t kMost = std::numeric_limits<int32_t>::max();

int32_t saturating_shift_left(int32_t x, int32_t bits) {
  const int64_t shifted = int64_t{x} * (int64_t{1} << bits);
  return static_cast<int32_t>(std::clamp<int64_t>(shifted, std::numeric_limits<int32_t>::min(), kMost));
}

// Returns exp(x) for x in [-1/4, 0): the Taylor series around -1/8.
int32_t exp_of_quarter(int32_t x) {
  constexpr int32_t kExpOfMinusEighth = 1895147668, kThird = 715827883;
  const int32_t a = x + (1 << 28);
  const int32_t square = high_product_of_32_bits(a, a), cube = high_product_of_32_bits(square, a);
  const int32_t quarter_of_fourth = rounding_shift(high_product_of_32_bits(square, square), 2);
  const int32_t rest = rounding_shift(high_product_of_32_bits(quarter_of_fourth + cube, kThird) + square, 1);
  return kExpOfMinusEighth + high_product_of_32_bits(kExpOfMinusEighth, a + rest);
}

// Returns 1 / (1 + x) for x in [0, 1), by Newton's method.
int32_t reciprocal_of_one_plus(int32_t x) {
  constexpr int32_t k48Over17 = 1515870810, kMinus32Over17 = -1010580540;  // Q2.29
  const int32_t half_denominator = (x >> 1) + (1 << 30);
  int32_t y = k48Over17 + high_product_of_32_bits(half_denominator, kMinus32Over17);
  for (int i = 0; i < 3; ++i) {
    const int32_t rest = (1 << 29) - high_product_of_32_bits(half_denominator, y);
    y += saturating_shift_left(high_product_of_32_bits(y, rest), 2);
  }
  return saturating_shift_left(y, 1);
}

}  // namespace

int32_t high_product_of_32_bits(int32_t a, int32_t b) { return multiply(a, {b, 0}); }

int32_t rounding_shift(int32_t x, int32_t bits) {
  const auto mask = static_cast<int32_t>((int64_t{1} << bits) - 1);
  const int32_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> bits) + ((x & mask) > threshold ? 1 : 0);
}

int32_t exp_of_negative(int32_t x) {
  if (x == 0) return kMost;
  constexpr int32_t kQuarter = 1 << 24;
  // exp(-2^i) in Q0.31 for i from -2 to 4
  constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  const int32_t within = (x & (kQuarter - 1)) - kQuarter;
  int32_t result = exp_of_quarter(saturating_shift_left(within, 5));
  const int32_t quarters = (within - x) >> 24;
  for (int i = 0; i < 7; ++i)
    if (((quarters >> i) & 1) != 0) result = high_product_of_32_bits(result, kFactors[i]);
  return result;
}

int32_t reciprocal(uint32_t x, int32_t whole_bits, int32_t& exponent) {
  const int32_t headroom = std::countl_zero(x);
  exponent = whole_bits - headroom;
  return reciprocal_of_one_plus(static_cast<int32_t>((x << headroom) - (uint32_t{1} << 31)));
}

FixedMultiplier inverse_square_root(int32_t x) {
  if (x <= 1) return {kMost, 0};
  int32_t right_shift = 11;
  for (; x >= 1 << 29; x /= 4) ++right_shift;
  const int32_t pairs = (std::countl_zero(static_cast<uint32_t>(x)) - 1) / 2 - 1;
  right_shift -= pairs;
  x <<= 2 * pairs;
  const int32_t number = x >> 1, half = rounding_shift(number, 1);  // Q3.28
  constexpr int32_t kHalfThree = (1 << 28) + (1 << 27), kHalfRootOfTwo = 1518500250;
  int32_t y = 1 << 28;
  for (int i = 0; i < 5; ++i) {
    const int32_t cube = saturating_shift_left(high_product_of_32_bits(high_product_of_32_bits(y, y), y), 6);
    y = saturating_shift_left(high_product_of_32_bits(kHalfThree, y) - high_product_of_32_bits(half, cube),
                              3);
  }
  y = high_product_of_32_bits(y, kHalfRootOfTwo);
  if (right_shift < 0) return {y << -right_shift, 0};
  return {y, -right_shift};
}

SegmentTable segment_table(double x_step, int32_t x_zero, double y_step, double (*function)(double)) {
  constexpr int kSegments = 512;
  const double first = x_step * (-32768 - x_zero), last = x_step * (32767 - x_zero);
  const double length = (last - first) / kSegments;
  const double inverse = 65536.0 / (y_step * 32767 - y_step * -32768);
  const auto at = [&](double position) { return function(position) * inverse; };
  const auto bounded = [](double value) {
    return static_cast<int32_t>(std::clamp(value, double{-32768}, double{32767}));
  };
  SegmentTable table;
  for (int i = 0; i < kSegments; ++i) {
    const double begin = std::round(at(first + i * length));
    const double middle = std::round((at(first + (i + 1) * length) + begin) / 2);
    const double error = middle - std::round(at(first + i * length + length / 2));
    table.push_back(bounded(begin - std::round(error / 2)));
  }
  table.push_back(bounded(std::round(at(last))));
  return table;
}

int32_t look_up(const SegmentTable& table, int32_t integer) {
  const auto segment = static_cast<size_t>(256 + (integer >> 7));
  const int32_t slope = table[segment + 1] - table[segment];
  return table[segment] + ((slope * (integer & 127) + 64) >> 7);
}

}  // namespace vellum
