// Quotients.
#ifndef DIVIDE_GLSL
#define DIVIDE_GLSL

// Returns `quotient`, an inexact a / b, put on the side of `nearest` that the exact one has. `nearest` is the multiple of
// one half next to it, and `left` the exact a - nearest * b. The result is `nearest` where that is the quotient rounded to a
// float: where no other float is closer. Vulkan allows a / b an error of 2.5 units in the last place, and devices multiply
// by a reciprocal: 41 / 41 may be below 1, and what is beside a tie may be taken for one.
vec4 on_its_side(vec4 quotient, vec4 nearest, vec4 left, vec4 b) {
  // The float beside `nearest` towards the exact quotient: away from zero if that is larger in size.
  // Beside zero is none to decide about: it would be denormal, and CPUs compute those a hundred times as slowly.
  ivec4 away = mix(ivec4(1), ivec4(-1), lessThan(left * sign(b) * sign(nearest), vec4(0)));
  away *= ivec4(notEqual(nearest, vec4(0)));
  vec4 beside = intBitsToFloat(floatBitsToInt(nearest) + away), gap = abs(beside - nearest);
  vec4 corrected = mix(beside, nearest, lessThanEqual(abs(left), 0.5 * gap * abs(b)));
  // A quotient that is further off is on its side already, as is one next to zero or infinity, whose gap is no number
  // or too small.
  return mix(quotient, corrected, lessThanEqual(abs(quotient - nearest), 4.0 * gap));
}

// Returns a / b such that what rounds it, down, up or to the nearest integer, gets what the quotient rounded to a float
// gives.
vec4 exact_halves(vec4 a, vec4 b) {
  vec4 quotient = a / b, nearest = 0.5 * roundEven(2.0 * quotient);
  // The product of both and what its rounding leaves out, from products of halves of their bits (Dekker 1971).
  precise vec4 product = nearest * b;
  precise vec4 wide = nearest * 4097.0, wide_b = b * 4097.0;
  precise vec4 high = wide - (wide - nearest), high_b = wide_b - (wide_b - b);
  precise vec4 low = nearest - high, low_b = b - high_b;
  precise vec4 rest = ((high * high_b - product) + high * low_b + low * high_b) + low * low_b;
  precise vec4 left = (a - product) - rest;
  return on_its_side(quotient, nearest, left, b);
}
vec2 exact_halves(vec2 a, vec2 b) { return exact_halves(a.xyxy, b.xyxy).xy; }
float exact_halves(float a, float b) { return exact_halves(vec4(a), vec4(b)).x; }

// (a / b, a % b) for 0 <= a < 2^30, b > 0. Integer division is slow on most devices (CPU drivers do it lane by lane),
// so the quotient is estimated in floating point. A reciprocal may be wrong by 2.5 units in the last place, so the first
// estimate is off by less than 2^9, the second by at most one.
ivec2 divide(int a, int b) {
  float reciprocal = 1.0 / float(b);
  int q = int(float(a) * reciprocal);
  int r = a - q * b;
  int correction = int(floor(float(r) * reciprocal));
  q += correction;
  r -= correction * b;
  if (r < 0) return ivec2(q - 1, r + b);
  if (r >= b) return ivec2(q + 1, r - b);
  return ivec2(q, r);
}
#endif
