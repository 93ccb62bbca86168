// Quotients.
#ifndef DIVIDE_GLSL
#define DIVIDE_GLSL

// Returns a / b, exact where the quotient is a multiple of one half, so that what rounds it gets the side or the tie that
// it has. Vulkan allows a / b an error of 2.5 units in the last place, and devices multiply by a reciprocal: 41 / 41 may be
// below 1.
vec4 exact_halves(vec4 a, vec4 b) {
  vec4 quotient = a / b, nearest = 0.5 * roundEven(2.0 * quotient);
  // The product of both and what its rounding leaves out, from products of halves of their bits (Dekker 1971).
  precise vec4 product = nearest * b;
  precise vec4 wide = nearest * 4097.0, wide_b = b * 4097.0;
  precise vec4 high = wide - (wide - nearest), high_b = wide_b - (wide_b - b);
  precise vec4 low = nearest - high, low_b = b - high_b;
  precise vec4 rest = ((high * high_b - product) + high * low_b + low * high_b) + low * low_b;
  return mix(quotient, nearest, equal(abs(product - a) + abs(rest), vec4(0)));
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
