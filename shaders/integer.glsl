// Functions with an integer result, named after their ONNX operators. Of two floats: comparisons. Of two integers:
// those, logic (a bool is 0 or 1) and arithmetic, which wraps around.

ivec4 Equal(vec4 a, vec4 b) { return ivec4(equal(a, b)); }
ivec4 Greater(vec4 a, vec4 b) { return ivec4(greaterThan(a, b)); }
ivec4 Less(vec4 a, vec4 b) { return ivec4(lessThan(a, b)); }
ivec4 GreaterOrEqual(vec4 a, vec4 b) { return ivec4(greaterThanEqual(a, b)); }
ivec4 LessOrEqual(vec4 a, vec4 b) { return ivec4(lessThanEqual(a, b)); }

ivec4 Equal(ivec4 a, ivec4 b) { return ivec4(equal(a, b)); }
ivec4 Greater(ivec4 a, ivec4 b) { return ivec4(greaterThan(a, b)); }
ivec4 Less(ivec4 a, ivec4 b) { return ivec4(lessThan(a, b)); }
ivec4 GreaterOrEqual(ivec4 a, ivec4 b) { return ivec4(greaterThanEqual(a, b)); }
ivec4 LessOrEqual(ivec4 a, ivec4 b) { return ivec4(lessThanEqual(a, b)); }
ivec4 And(ivec4 a, ivec4 b) { return a & b; }
ivec4 Or(ivec4 a, ivec4 b) { return a | b; }
ivec4 Xor(ivec4 a, ivec4 b) { return a ^ b; }

ivec4 Add(ivec4 a, ivec4 b) { return a + b; }
ivec4 Sub(ivec4 a, ivec4 b) { return a - b; }
ivec4 Mul(ivec4 a, ivec4 b) { return a * b; }
ivec4 Max(ivec4 a, ivec4 b) { return max(a, b); }
ivec4 Min(ivec4 a, ivec4 b) { return min(a, b); }
// Dividing by zero gives 0, as in the host reference. GLSL's % is undefined for negative operands: not used.
int quotient(int a, int b) {
  if (b == 0) return 0;
  if (b == -1) return 0 - a;
  return a / b;
}
ivec4 Div(ivec4 a, ivec4 b) {
  return ivec4(quotient(a.x, b.x), quotient(a.y, b.y), quotient(a.z, b.z), quotient(a.w, b.w));
}
// The sign of the dividend (C's %), the sign of the divisor (Python's %).
ivec4 Fmod(ivec4 a, ivec4 b) { return mix(a - b * Div(a, b), ivec4(0), equal(b, ivec4(0))); }
ivec4 Mod(ivec4 a, ivec4 b) {
  ivec4 rest = Fmod(a, b);
  bvec4 other_sign = lessThan(rest ^ b, ivec4(0));
  return rest + b * ivec4(other_sign) * ivec4(notEqual(rest, ivec4(0)));
}

// Of one: logic and classes of floats.
ivec4 Not(ivec4 x) { return ivec4(equal(x, ivec4(0))); }
ivec4 IsNaN(vec4 x) { return ivec4(isnan(x)); }
ivec4 IsInfPositive(vec4 x) { return ivec4(isinf(x)) * ivec4(greaterThan(x, vec4(0))); }
ivec4 IsInfNegative(vec4 x) { return ivec4(isinf(x)) * ivec4(lessThan(x, vec4(0))); }
ivec4 IsInf(vec4 x) { return ivec4(isinf(x)); }
