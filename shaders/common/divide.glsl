// Integer division, and quotients and square roots of floats that round to integers as the exact ones do.
#ifndef DIVIDE_GLSL
#define DIVIDE_GLSL

#include "divide_integers.glsl"

// Corrects `quotient`, the device's inexact a / b, close to `nearest`, the nearest multiple of one half. `left` is the exact
// remainder a - nearest * b. Returns `nearest` if it is the float closest to the exact quotient, otherwise the float beside it
// on the side of the exact quotient. Vulkan allows a / b an error of 2.5 units in the last place, and devices multiply by a
// reciprocal: 41 / 41 may be below 1, and a quotient just beside a tie may come out as the tie.
vec4 on_its_side(vec4 quotient, vec4 nearest, vec4 left, vec4 b) {
  // The float beside `nearest` towards the exact quotient: away from zero if the exact quotient has the larger magnitude.
  // Zero stays zero: the float beside it is denormal, and CPUs compute denormals a hundred times as slowly.
  ivec4 away = mix(ivec4(1), ivec4(-1), lessThan(left * sign(b) * sign(nearest), vec4(0)));
  away *= ivec4(notEqual(nearest, vec4(0)));
  vec4 beside = intBitsToFloat(floatBitsToInt(nearest) + away), gap = abs(beside - nearest);
  vec4 corrected = mix(beside, nearest, lessThanEqual(abs(left), 0.5 * gap * abs(b)));
  // A quotient that is further from `nearest` is on the correct side already. The comparison is also false beside zero, where
  // the gap is 0, and beside infinity, where a difference is NaN.
  return mix(quotient, corrected, lessThanEqual(abs(quotient - nearest), 4.0 * gap));
}

// Returns a - n * b, exactly if n * b is close to a: the factors are split into halves of their bits (Dekker 1971).
vec4 remainder_of(vec4 a, vec4 n, vec4 b) {
  precise vec4 product = n * b;
  precise vec4 wide = n * 4097.0, wide_b = b * 4097.0;
  precise vec4 high = wide - (wide - n), high_b = wide_b - (wide_b - b);
  precise vec4 low = n - high, low_b = b - high_b;
  precise vec4 rest = ((high * high_b - product) + high * low_b + low * high_b) + low * low_b;
  precise vec4 left = (a - product) - rest;
  return left;
}

// Returns a / b so exactly that floor(), ceil() and roundEven() of it give the same as of the correctly rounded quotient.
vec4 exact_halves(vec4 a, vec4 b) {
  vec4 quotient = a / b, nearest = 0.5 * roundEven(2.0 * quotient);
  return on_its_side(quotient, nearest, remainder_of(a, nearest, b), b);
}
vec2 exact_halves(vec2 a, vec2 b) { return exact_halves(a.xyxy, b.xyxy).xy; }
float exact_halves(float a, float b) { return exact_halves(vec4(a), vec4(b)).x; }

// Returns the float that is nearest to a / b, so that a rounding of it by any step is the one of the exact quotient. It may be
// the float beside it if the exact quotient is within 2^-20 units in the last place of the middle between two floats; with a
// whole b up to 2^19, as in a mean, it never is. A quotient whose remainder is not finite remains as it is. EXACT_DIVISION: the
// device's quotients are the nearest floats (DeviceCaps::exact_division).
vec4 nearest_quotient(vec4 a, vec4 b) {
#ifdef EXACT_DIVISION
  return a / b;
#else
  precise vec4 quotient = a / b;  // precise, so that it is rounded before anything is added to it
  // The device's quotient may be 2.5 units off, the remainder's quotient is off by less than 2^-20 units.
  vec4 left = remainder_of(a, quotient, b);
  precise vec4 corrected = quotient + left / b;
  return mix(quotient, corrected, lessThanEqual(abs(left), abs(a)));
#endif
}
vec4 mean_of(vec4 total, float count) { return nearest_quotient(total, vec4(count)); }
float mean_of(float total, float count) { return mean_of(vec4(total), count).x; }

// Returns the float that is nearest to the square root of x, in the same sense: the root of a square is exact. Vulkan allows
// sqrt() the errors of inversesqrt() and of a division.
vec4 nearest_root(vec4 x) {
  precise vec4 root = sqrt(x);
  vec4 left = remainder_of(x, root, root);
  precise vec4 corrected = root + 0.5 * left / root;
  return mix(root, corrected, lessThan(abs(left), x));  // false of zero, infinity and NaN
}

// Replaces NaN by 0. It is detected by its bits, because inf_nan.glsl would keep Metal from optimising every kernel with an
// activation.
vec4 without_nan(vec4 v) {
  return mix(v, vec4(0), greaterThan(floatBitsToInt(v) & 0x7fffffff, ivec4(0x7f800000)));
}

// Rounds to the nearest integers, ties away from zero.
vec4 round_away(vec4 v) {
  vec4 nearest = roundEven(v);
  return nearest + mix(vec4(0), sign(v), equal(v - nearest, 0.5 * sign(v)));
}
// Rounds to the nearest integers, ties to even or with TIES_AWAY away from zero.
#ifdef TIES_AWAY
#define round_ties round_away
#else
#define round_ties roundEven
#endif

// A step by which floats are divided: the upper and the lower half of its bits, and twice its inverse.
struct Step {
  float step, high, low, twice_inverse;
};
Step step_of_size(float step) {
  float high = uintBitsToFloat(floatBitsToUint(step) & 0xfffff000u);
  return Step(step, high, step - high, 2.0 / step);
}

// Returns round_ties() of the float that is nearest to v / step. `halves`: the whole number nearest to 2 v / step, as
// roundEven(v * twice_inverse) finds it, or a bound beyond which the caller does not tell results apart; at most 2^12. That
// product may be wrong by a few units in the last place, so it only selects the nearest multiple of one half. The remainder
// v - halves / 2 * step is exact, because `halves` has few bits and exact products with both halves of the step. Its sign
// says on which side of halves / 2 the quotient is. A quarter added on that side decides a tie and leaves an integer as it is.
vec4 nearest_steps(vec4 v, vec4 halves, Step s) {
  vec4 nearest = 0.5 * halves;
  precise vec4 left = (v - nearest * s.high) - nearest * s.low;
  // Half a unit in the last place of `nearest`, times step: a smaller remainder is rounded away. Just below 0.5 the unit is
  // half as large, which makes a difference only with TIES_AWAY: else 0.5 and the floats below it all round to 0.
  vec4 close = uintBitsToFloat(floatBitsToUint(nearest) & 0x7f800000u) * (s.step * exp2(-24.0));
#ifdef TIES_AWAY
  close *= mix(vec4(1), vec4(0.5), equal(abs(nearest), vec4(0.5)));
#endif
  precise vec4 beside = left - clamp(left, -close, close);
#ifdef TIES_AWAY
  return roundEven(nearest + 0.25 * mix(sign(beside), sign(nearest), equal(beside, vec4(0))));
#else
  return roundEven(nearest + 0.25 * sign(beside));
#endif
}

// Returns what nearest_steps() returns, for steps that step_rounding.hpp allows. v is at most 2000 steps. The nearest multiple
// of one half plus the exact remainder's quotient is the exact quotient, which the sum rounds.
vec4 quick_steps(vec4 v, Step s) {
  vec4 halves = roundEven(v * s.twice_inverse);
  precise vec4 left = (v - halves * (0.5 * s.high)) - halves * (0.5 * s.low);
  precise vec4 quotient = 0.5 * halves + left * (0.5 * s.twice_inverse);
  return round_ties(quotient);
}
#endif
