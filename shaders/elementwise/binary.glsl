// Functions of two elements, named after their ONNX operators.

#include "inf_nan.glsl"

vec4 Add(vec4 a, vec4 b) { return a + b; }
vec4 Sub(vec4 a, vec4 b) { return a - b; }
vec4 Mul(vec4 a, vec4 b) { return a * b; }
vec4 Div(vec4 a, vec4 b) { return a / b; }
// Division by a norm: a row of zeros stays unchanged. Division by the square root of a variance, in batch normalisation.
vec4 DivByNorm(vec4 a, vec4 b) { return mix(a / b, a, equal(b, vec4(0))); }
vec4 DivBySqrt(vec4 a, vec4 b) { return a / sqrt(b); }
// A NaN in either operand is the result, as in numpy.
vec4 Max(vec4 a, vec4 b) { return mix(mix(b, a, greaterThan(a, b)), a, isnan(a)); }
vec4 Min(vec4 a, vec4 b) { return mix(mix(b, a, lessThan(a, b)), a, isnan(a)); }
vec4 PRelu(vec4 a, vec4 slope) { return mix(a, slope * a, lessThan(a, vec4(0))); }
// Mod has the sign of the divisor (Python's %), Fmod the sign of the dividend (C's fmod).
// An infinite divisor, whose product with a quotient of 0 would be NaN, leaves a dividend of its sign unchanged.
bvec4 is_beyond(vec4 a, vec4 b) { return bvec4(ivec4(isinf(b)) * ivec4(lessThan(abs(a), abs(b)))); }
vec4 Mod(vec4 a, vec4 b) {
  return mix(a - b * floor(a / b), mix(b, a, greaterThanEqual(a * sign(b), vec4(0))), is_beyond(a, b));
}
vec4 Fmod(vec4 a, vec4 b) { return mix(a - b * trunc(a / b), a, is_beyond(a, b)); }

// GLSL's pow needs a positive base and is an exp2 of a log2; small whole exponents are products instead.
float power(float a, float b) {
  if (b == 0.0) return 1.0;
  if (b == 1.0) return a;
  if (b == 2.0) return a * a;
  if (b == 3.0) return a * a * a;
  if (b == 0.5 && a >= 0.0) return sqrt(a);
  if (b == -1.0) return 1.0 / a;
  if (a == 0.0) return b > 0.0 ? 0.0 : 1.0 / abs(a);
  float magnitude = pow(abs(a), b);
  if (a > 0.0) return magnitude;
  if (b != floor(b)) return sqrt(a);  // NaN, as a is negative
  return mod(b, 2.0) == 1.0 ? -magnitude : magnitude;
}
vec4 Pow(vec4 a, vec4 b) { return vec4(power(a.x, b.x), power(a.y, b.y), power(a.z, b.z), power(a.w, b.w)); }
