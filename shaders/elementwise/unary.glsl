// Functions of one element, named after their ONNX operators.

#include "divide.glsl"
#include "inf_nan.glsl"

vec4 Abs(vec4 x) { return abs(x); }
vec4 Neg(vec4 x) { return -x; }
vec4 Ceil(vec4 x) { return ceil(x); }
vec4 Floor(vec4 x) { return floor(x); }
vec4 Round(vec4 x) { return roundEven(x); }
vec4 Sign(vec4 x) { return sign(x); }
vec4 Sqrt(vec4 x) { return nan_where(not(greaterThanEqual(x, vec4(0))), nearest_root(x)); }
vec4 Exp(vec4 x) { return nan_where(is_nan(x), exp(x)); }  // of NaN, SwiftShader's is infinite
vec4 Log(vec4 x) { return logarithm(x); }
vec4 Reciprocal(vec4 x) { return nearest_quotient(vec4(1), x); }
vec4 Shrink(vec4 x) {  // params: lambda, bias
  float lambda = activation_params.x, bias = activation_params.y;
  return mix(mix(vec4(0), x - bias, greaterThan(x, vec4(lambda))), x + bias, lessThan(x, vec4(-lambda)));
}
vec4 Atan(vec4 x) { return atan(x); }

// GLSL promises only an absolute error of 2^-11 for sin and cos (Vulkan spec, "Precision and Operation of
// SPIR-V Instructions"). This function reduces x to r = x - k * pi/2 as Cody and Waite do: pi/2 is a sum of
// three numbers of few bits, and k is a multiple of 4096 plus the rest, so that all products and differences
// are exact. That holds up to |x| = 2^22, the phases of minutes of audio. Above it, where floats are 0.5 or
// more apart, the built-in functions are used. Taylor's series gives sine and cosine of r, |r| < 1.2.
// Returns (sine, cosine) of x.
vec2 sine_cosine(float x) {
  if (abs(x) > 4194304.0) return vec2(sin(x), cos(x));
  float k = round(x * 0.636619772);
  float thousands = round(k * (1.0 / 4096.0)) * 4096.0, units = k - thousands;
  float r = (x - thousands * 1.5703125) - units * 1.5703125;
  r = (r - thousands * 4.837512969970703e-4) - units * 4.837512969970703e-4;
  r -= k * 7.549789948768648e-8;
  float r2 = r * r;
  float s = r * (1.0 + r2 * (-1.0 / 6.0 + r2 * (1.0 / 120.0 + r2 * (-1.0 / 5040.0 + r2 / 362880.0))));
  float c = 1.0 + r2 * (-0.5 + r2 * (1.0 / 24.0 + r2 * (-1.0 / 720.0 + r2 * (1.0 / 40320.0 - r2 / 3628800.0))));
  int quarter = int(k) & 3;
  vec2 turned = (quarter & 1) == 0 ? vec2(s, c) : vec2(c, -s);
  return quarter >= 2 ? -turned : turned;
}
vec4 Sin(vec4 x) {
  return vec4(sine_cosine(x.x).x, sine_cosine(x.y).x, sine_cosine(x.z).x, sine_cosine(x.w).x);
}
vec4 Cos(vec4 x) {
  return vec4(sine_cosine(x.x).y, sine_cosine(x.y).y, sine_cosine(x.z).y, sine_cosine(x.w).y);
}
vec4 Tan(vec4 x) { return Sin(x) / Cos(x); }

// The built-in asin and acos are as inexact as sin and cos; computed by atan they have its error of 4096 ULP. The
// clamp keeps the root real where |x| rounds above 1.
vec4 Asin(vec4 x) {
  vec4 y = atan(x, sqrt(max((1.0 - x) * (1.0 + x), vec4(0))));
  return nan_where(not(lessThanEqual(abs(x), vec4(1))), y);
}
vec4 Acos(vec4 x) {
  vec4 y = atan(sqrt(max((1.0 - x) * (1.0 + x), vec4(0))), x);
  return nan_where(not(lessThanEqual(abs(x), vec4(1))), y);
}

// (e^x - e^-x) / 2 cancels near zero, where three terms of the series are exact to rounding.
vec4 Sinh(vec4 x) {
  vec4 x2 = x * x;
  vec4 series = x * (1.0 + x2 * (1.0 / 6.0 + x2 * (1.0 / 120.0)));
  return mix(0.5 * (exp(x) - exp(-x)), series, lessThan(abs(x), vec4(0.2)));
}
vec4 Cosh(vec4 x) { return 0.5 * (exp(x) + exp(-x)); }
// Computed for |x|, so that no difference cancels. Near zero, where 1 + x would lose the bits of x, a series
// is used, and a logarithm of 2 |x| where x * x is infinite.
vec4 Asinh(vec4 x) {
  vec4 a = abs(x), x2 = x * x;
  vec4 series = x * (1.0 + x2 * (-1.0 / 6.0 + x2 * (3.0 / 40.0)));
  vec4 large = mix(log(a + sqrt(x2 + 1.0)), log(a) + log(2.0), greaterThan(a, vec4(1e8)));
  return nan_where(is_nan(x), mix(sign(x) * large, series, lessThan(a, vec4(0.1))));
}
vec4 Acosh(vec4 x) { return nan_where(not(greaterThanEqual(x, vec4(1))), log(x + sqrt((x - 1.0) * (x + 1.0)))); }
vec4 Atanh(vec4 x) {
  vec4 x2 = x * x;
  vec4 series = x * (1.0 + x2 * (1.0 / 3.0 + x2 * (1.0 / 5.0)));
  vec4 y = mix(0.5 * logarithm((1.0 + x) / (1.0 - x)), series, lessThan(abs(x), vec4(0.1)));
  return nan_where(not(lessThanEqual(abs(x), vec4(1))), y);
}
