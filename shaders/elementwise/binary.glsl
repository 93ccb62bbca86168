// Functions of two elements, named after their ONNX operators.

#include "divide.glsl"
#include "inf_nan.glsl"

// Sums and products are rounded even where a shader computes both: with a*b in a fused multiply-add, a*b - c*d with equal
// factors is no zero, and the root of what is never negative NaN. tests/shaders/contraction_test.cpp holds them to it.
vec4 Add(vec4 a, vec4 b) {
  precise vec4 sum = a + b;
  return sum;
}
vec4 Sub(vec4 a, vec4 b) {
  precise vec4 difference = a - b;
  return difference;
}
vec4 Mul(vec4 a, vec4 b) {
  precise vec4 product = a * b;
  return product;
}
vec4 SquaredDifference(vec4 a, vec4 b) {
  precise vec4 difference = a - b, square = difference * difference;
  return square;
}
vec4 Div(vec4 a, vec4 b) { return a / b; }
// A quotient that is rounded to an integer next.
vec4 DivToRound(vec4 a, vec4 b) { return exact_halves(a, b); }
// A quotient that is rounded to a number of steps next.
vec4 DivToSteps(vec4 a, vec4 b) { return nearest_quotient(a, b); }
// DivByNorm divides by a norm and leaves a row of zeros unchanged. DivBySqrt divides by the square root of a
// variance, for batch normalisation.
vec4 DivByNorm(vec4 a, vec4 b) { return mix(a / b, a, equal(b, vec4(0))); }
vec4 DivBySqrt(vec4 a, vec4 b) { return a / sqrt(b); }
// If either operand is NaN, the result is NaN, as in numpy.
vec4 Max(vec4 a, vec4 b) { return mix(mix(b, a, greaterThan(a, b)), a, is_nan(a)); }
vec4 Min(vec4 a, vec4 b) { return mix(mix(b, a, lessThan(a, b)), a, is_nan(a)); }
vec4 PRelu(vec4 a, vec4 slope) { return mix(a, Mul(slope, a), lessThan(a, vec4(0))); }

// Mod has the sign of the divisor (Python's %), Fmod the sign of the dividend (C's fmod). Both are exact; the formula
// a - b * trunc(a / b) is not, because the quotient is rounded. Instead the integer mantissas are divided, eight
// bits of the quotient at a time: at most 35 times, because exponents differ by less than 277.
uint significand(uint bits) { return (bits & 0x7fffffu) | (bits >= 0x800000u ? 0x800000u : 0u); }
int exponent_of(uint bits) { return max(int(bits >> 23), 1); }
float fmod_exactly(float x, float y) {
  uint a = floatBitsToUint(x) & 0x7fffffffu, b = floatBitsToUint(y) & 0x7fffffffu;
  uint sign_bit = floatBitsToUint(x) & 0x80000000u;
  if (a >= 0x7f800000u || b == 0u || b > 0x7f800000u) return QUIET_NAN;
  if (a < b) return x;
  uint divisor = significand(b), rest = significand(a) % divisor;
  int exponent = exponent_of(b);
  for (int left = exponent_of(a) - exponent; left > 0 && rest != 0u; left -= 8) rest = (rest << min(left, 8)) % divisor;
  if (rest == 0u) return uintBitsToFloat(sign_bit);
  int shift = min(23 - findMSB(rest), exponent - 1);
  rest <<= shift;
  exponent = rest < 0x800000u ? 0 : exponent - shift;
  return uintBitsToFloat(sign_bit | uint(exponent) << 23 | (rest & 0x7fffffu));
}
float mod_exactly(float x, float y) {
  float rest = fmod_exactly(x, y);
  return rest != 0.0 && (rest < 0.0) != (y < 0.0) ? rest + y : rest;
}
vec4 Mod(vec4 a, vec4 b) {
  return vec4(mod_exactly(a.x, b.x), mod_exactly(a.y, b.y), mod_exactly(a.z, b.z), mod_exactly(a.w, b.w));
}
vec4 Fmod(vec4 a, vec4 b) {
  return vec4(fmod_exactly(a.x, b.x), fmod_exactly(a.y, b.y), fmod_exactly(a.z, b.z), fmod_exactly(a.w, b.w));
}

// GLSL's pow needs a positive base and is an exp2 of a log2, which makes no integer of a power of an integer. Whole exponents up
// to 32 are products instead, by the bits of the exponent, and those with a half are products with a root.
float power(float a, float b) {
  if (b == 2.0) return a * a;
  float magnitude = abs(b);
  if (magnitude <= 32.0 && 2.0 * b == floor(2.0 * b)) {
    bool has_half = magnitude != floor(magnitude);
    if (has_half && a < 0.0) return QUIET_NAN;
    float product = has_half ? nearest_root(vec4(a)).x : 1.0, factor = a;
    for (uint bits = uint(magnitude); bits != 0u; bits >>= 1, factor *= factor)
      product *= (bits & 1u) != 0u ? factor : 1.0;
    return b < 0.0 ? nearest_quotient(vec4(1), vec4(product)).x : product;
  }
  if (a == 1.0 || (a == -1.0 && is_inf(b))) return 1.0;
  if (is_nan(a) || is_nan(b)) return QUIET_NAN;
  if (a == 0.0) return b > 0.0 ? 0.0 : 1.0 / abs(a);
  float result = pow(abs(a), b);
  if (a > 0.0) return result;
  if (b != floor(b)) return QUIET_NAN;
  return mod(b, 2.0) == 1.0 ? -result : result;
}
vec4 Pow(vec4 a, vec4 b) { return vec4(power(a.x, b.x), power(a.y, b.y), power(a.z, b.z), power(a.w, b.w)); }
