// Division of integers.
#ifndef DIVIDE_INTEGERS_GLSL
#define DIVIDE_INTEGERS_GLSL

// Returns (a / b, a % b) for 0 <= a < 2^30, b > 0. Integer division is slow on most devices (CPU drivers do it lane by lane),
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
