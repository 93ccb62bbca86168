#include "graph/operators/elementwise/short_fixed_functions.hpp"

#include <algorithm>
#include <limits>

#include "graph/operators/elementwise/fixed_functions.hpp"

namespace vellum {
namespace {

constexpr int32_t kMostShort = std::numeric_limits<int16_t>::max(),
                  kLeastShort = std::numeric_limits<int16_t>::min();

int16_t wrapped(int32_t x) { return static_cast<int16_t>(static_cast<uint16_t>(x)); }
int16_t saturated(int32_t x) { return static_cast<int16_t>(std::clamp(x, kLeastShort, kMostShort)); }
int16_t shifted_left(int16_t x, int32_t bits) { return saturated(x * (1 << bits)); }
// Returns a constant of 32 bits as one of 16 bits.
int16_t short_constant(int32_t x) { return static_cast<int16_t>(rounding_shift(x, 16)); }

// Returns a * b / 2^15, halves rounded up.
int16_t times(int16_t a, int16_t b) {
  if (a == kLeastShort && b == kLeastShort) return static_cast<int16_t>(kMostShort);
  const int32_t product = a * b, nudge = product >= 0 ? 1 << 14 : 1 - (1 << 14);
  return static_cast<int16_t>((product + nudge) / (1 << 15));
}

// Returns exp(x) for x in [-1/4, 0): the Taylor series around -1/8.
int16_t exp_of_short_quarter(int16_t x) {
  const int16_t exp_of_minus_eighth = short_constant(1895147668), third = short_constant(715827883);
  const int16_t a = wrapped(x + (1 << 12));
  const int16_t square = times(a, a), cube = times(square, a);
  const auto quarter_of_fourth = static_cast<int16_t>(rounding_shift(times(square, square), 2));
  const auto rest = static_cast<int16_t>(
      rounding_shift(wrapped(times(wrapped(quarter_of_fourth + cube), third) + square), 1));
  return saturated(exp_of_minus_eighth + times(exp_of_minus_eighth, wrapped(a + rest)));
}

// Returns exp(x) in Q0.15 for x <= 0 with `whole_bits` before the binary point.
int16_t exp_of_negative_short(int16_t x, int32_t whole_bits) {
  if (x == 0) return static_cast<int16_t>(kMostShort);
  // exp(-2^i) in Q0.31 for i from -2 to 4
  constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  const int32_t fraction_bits = 15 - whole_bits, quarter = 1 << (fraction_bits - 2);
  const int16_t within = wrapped((x & (quarter - 1)) - quarter);
  int16_t result = exp_of_short_quarter(shifted_left(within, whole_bits));
  const int16_t rest = wrapped(within - x);
  for (int32_t i = -2; i < std::min(whole_bits, 5); ++i)
    if ((rest & (1 << (fraction_bits + i))) != 0) result = times(result, short_constant(kFactors[i + 2]));
  if (whole_bits > 5 && x < rounding_shift(-(1 << (36 - whole_bits)), 16)) return 0;  // below -32
  return result;
}

struct Quotient {
  int16_t numerator_is_one, numerator_is_rest;  // 1 / (1 + x) in Q1.14, and (1 - x) / (1 + x) in Q0.15
};

// Newton's method, for x in [0, 1).
Quotient divided_by_one_plus(int16_t x) {
  const auto half_denominator = static_cast<int16_t>((x + kMostShort + 1) / 2);
  int16_t y = wrapped(short_constant(1515870810) + times(half_denominator, short_constant(-1010580540)));
  for (int i = 0; i < 3; ++i) {
    const int16_t rest = wrapped((1 << 13) - times(half_denominator, y));
    y = wrapped(y + shifted_left(times(y, rest), 2));
  }
  return {shifted_left(y, 1), shifted_left(wrapped(y - (1 << 13)), 2)};
}

}  // namespace

int16_t logistic_of_short(int16_t x) {
  if (x == 0) return 1 << 14;
  const int16_t negative = x > 0 ? wrapped(-x) : x;
  const int16_t of_magnitude = divided_by_one_plus(exp_of_negative_short(negative, 3)).numerator_is_one;
  return x > 0 ? of_magnitude : wrapped(kMostShort - of_magnitude);
}

int16_t tanh_of_short(int16_t x, int32_t whole_bits) {
  if (x == 0) return 0;
  const int16_t negative = x > 0 ? wrapped(-x) : x;
  const int16_t value =
      divided_by_one_plus(exp_of_negative_short(negative, whole_bits + 1)).numerator_is_rest;
  return x > 0 ? value : wrapped(-value);
}

}  // namespace vellum
