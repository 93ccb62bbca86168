// Functions with an integer result, named after their ONNX operators: comparisons of floats and of integers, logic
// (a bool is 0 or 1), and arithmetic of integers, which wraps around. UNSIGNED: the integers are unsigned.

#include "inf_nan.glsl"

// Wraps a result to a type of 32 - spare_bits bits.
ivec4 wrap(ivec4 v, int spare_bits) {
#ifdef UNSIGNED
  return ivec4((uvec4(v) << spare_bits) >> spare_bits);
#else
  return (v << spare_bits) >> spare_bits;
#endif
}

#ifdef UNSIGNED
#define ORDERED uvec4
#else
#define ORDERED ivec4
#endif

ivec4 Equal(vec4 a, vec4 b) { return ivec4(equal(a, b)); }
ivec4 Greater(vec4 a, vec4 b) { return ivec4(greaterThan(a, b)); }
ivec4 Less(vec4 a, vec4 b) { return ivec4(lessThan(a, b)); }
ivec4 GreaterOrEqual(vec4 a, vec4 b) { return ivec4(greaterThanEqual(a, b)); }
ivec4 LessOrEqual(vec4 a, vec4 b) { return ivec4(lessThanEqual(a, b)); }

ivec4 Equal(ivec4 a, ivec4 b) { return ivec4(equal(a, b)); }
ivec4 Greater(ivec4 a, ivec4 b) { return ivec4(greaterThan(ORDERED(a), ORDERED(b))); }
ivec4 Less(ivec4 a, ivec4 b) { return ivec4(lessThan(ORDERED(a), ORDERED(b))); }
ivec4 GreaterOrEqual(ivec4 a, ivec4 b) { return ivec4(greaterThanEqual(ORDERED(a), ORDERED(b))); }
ivec4 LessOrEqual(ivec4 a, ivec4 b) { return ivec4(lessThanEqual(ORDERED(a), ORDERED(b))); }
ivec4 And(ivec4 a, ivec4 b) { return a & b; }
ivec4 Or(ivec4 a, ivec4 b) { return a | b; }
ivec4 Xor(ivec4 a, ivec4 b) { return a ^ b; }

// Computed with unsigned integers, because compilers of drivers may assume that signed ones do not overflow
// (Metal's).
ivec4 Add(ivec4 a, ivec4 b) { return ivec4(uvec4(a) + uvec4(b)); }
ivec4 Sub(ivec4 a, ivec4 b) { return ivec4(uvec4(a) - uvec4(b)); }
ivec4 Mul(ivec4 a, ivec4 b) { return ivec4(uvec4(a) * uvec4(b)); }
ivec4 Max(ivec4 a, ivec4 b) { return ivec4(max(ORDERED(a), ORDERED(b))); }
ivec4 Min(ivec4 a, ivec4 b) { return ivec4(min(ORDERED(a), ORDERED(b))); }
// Dividing by zero gives 0, as in the host reference. GLSL's % is not used, because it is undefined for
// negative operands.
int quotient(int a, int b) {
  if (b == 0) return 0;
#ifdef UNSIGNED
  return int(uint(a) / uint(b));
#else
  if (b == -1) return int(0u - uint(a));
  return a / b;
#endif
}
ivec4 Div(ivec4 a, ivec4 b) {
  return ivec4(quotient(a.x, b.x), quotient(a.y, b.y), quotient(a.z, b.z), quotient(a.w, b.w));
}
// Fmod has the sign of the dividend (C's %), Mod the sign of the divisor (Python's %).
ivec4 Fmod(ivec4 a, ivec4 b) { return mix(Sub(a, Mul(b, Div(a, b))), ivec4(0), equal(b, ivec4(0))); }
ivec4 Mod(ivec4 a, ivec4 b) {
  ivec4 rest = Fmod(a, b);
#ifdef UNSIGNED
  return rest;
#else
  bvec4 other_sign = lessThan(rest ^ b, ivec4(0));
  return rest + b * ivec4(other_sign) * ivec4(notEqual(rest, ivec4(0)));
#endif
}

// GLSL leaves shifts by 32 bits or more, or by a negative number, undefined. Here they return 0, or -1 if a
// negative number is shifted to the right.
ivec4 ShiftLeft(ivec4 a, ivec4 b) {
  return mix(ivec4(0), a << (b & 31), lessThan(uvec4(b), uvec4(32)));
}
#ifdef UNSIGNED
ivec4 ShiftRight(ivec4 a, ivec4 b) {
  return mix(ivec4(0), ivec4(uvec4(a) >> (b & 31)), lessThan(uvec4(b), uvec4(32)));
}
#else
ivec4 ShiftRight(ivec4 a, ivec4 b) { return a >> ivec4(min(uvec4(b), uvec4(31))); }
#endif

int whole_power(int base, int exponent) {
  if (exponent < 0) return base == 1 ? 1 : 0;
  uint result = 1u, factor = uint(base);
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= factor;
    factor *= factor;
  }
  return int(result);
}
// For an integer exponent the result is an exact product. For other exponents the root is truncated; the
// correction prevents an exact integer root from losing 1 if pow() is slightly too small.
int real_power(int base, float exponent) {
  if (exponent == floor(exponent) && abs(exponent) < 2147483648.0) return whole_power(base, int(exponent));
  if (base <= 0) return 0;
  float root = pow(float(base), exponent);
  float nearest = round(root);
  return abs(root - nearest) <= 1e-5 * nearest ? int(nearest) : int(root);
}
ivec4 Pow(ivec4 a, ivec4 b) {
  return ivec4(whole_power(a.x, b.x), whole_power(a.y, b.y), whole_power(a.z, b.z), whole_power(a.w, b.w));
}
ivec4 Pow(ivec4 a, vec4 b) {
  return ivec4(real_power(a.x, b.x), real_power(a.y, b.y), real_power(a.z, b.z), real_power(a.w, b.w));
}

// Functions of one element: logic, arithmetic, and classes of floats. Identity exists for the wrap() that follows it.
ivec4 Identity(ivec4 x) { return x; }
ivec4 Not(ivec4 x) { return ivec4(equal(x, ivec4(0))); }
ivec4 BitwiseNot(ivec4 x) { return ~x; }
ivec4 Neg(ivec4 x) { return Sub(ivec4(0), x); }
#ifdef UNSIGNED
ivec4 Abs(ivec4 x) { return x; }
ivec4 Relu(ivec4 x) { return x; }
ivec4 Sign(ivec4 x) { return ivec4(notEqual(x, ivec4(0))); }
#else
ivec4 Abs(ivec4 x) { return abs(x); }
ivec4 Relu(ivec4 x) { return max(x, ivec4(0)); }
ivec4 Sign(ivec4 x) { return sign(x); }
#endif
ivec4 IsNaN(vec4 x) { return ivec4(is_nan(x)); }
ivec4 IsInfPositive(vec4 x) { return ivec4(is_inf(x)) * ivec4(greaterThan(x, vec4(0))); }
ivec4 IsInfNegative(vec4 x) { return ivec4(is_inf(x)) * ivec4(lessThan(x, vec4(0))); }
ivec4 IsInf(vec4 x) { return ivec4(is_inf(x)); }
