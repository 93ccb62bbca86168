// Defines vec4 activate(vec4 v), the activation function that the macro ACTIVATION names
// (graph/operators/elementwise/activation.hpp). With TABLE it then looks the rounded result up in a table
// (kernels/conv/result_table.hpp).
//
// Include it after parameters with the field `vec4 activation_params`. It holds (alpha, beta, gamma, 0); with
// ACTIVATION_SCALED (alpha, beta, scale, shift); for rounded_... functions (alpha, least, most, step); with
// SUM_BOUNDS (alpha, beta, lower and upper bound of the sum before its residual, see residual.glsl). No
// intermediate value of a finite result overflows, because the argument of every exp() is bounded from above.

#include "round_to_steps.glsl"

vec4 activation_constants = activation_params;  // read once, see EXTENT_DECL_ in tensor.glsl

vec4 activation_none(vec4 x) { return x; }
vec4 activation_relu(vec4 x) { return max(x, vec4(0)); }
// As in ONNX, the upper bound applies if the bounds cross.
vec4 activation_clip(vec4 x) { return min(max(x, vec4(activation_constants.x)), vec4(activation_constants.y)); }
// No clamping if the bounds cross, so that a NaN is kept.
vec4 activation_bounds(vec4 x) {
  return mix(x, activation_clip(x), bvec4(activation_constants.x <= activation_constants.y));
}
vec4 activation_leaky_relu(vec4 x) { return mix(x, activation_constants.x * x, lessThan(x, vec4(0))); }

vec4 activation_sigmoid(vec4 x) {
  vec4 e = exp(-abs(x));
  return mix(vec4(1), e, lessThan(x, vec4(0))) / (1.0 + e);
}

// The built-in tanh may be a quotient of overflowing exponentials.
vec4 activation_tanh(vec4 x) {
  vec4 e = exp(-2.0 * abs(x));
  // Close to zero 1 - e cancels; the series x - x^3/3 + 2 x^5/15 is exact to fp32 rounding there.
  vec4 x2 = x * x;
  vec4 series = x * (1.0 + x2 * (-1.0 / 3.0 + x2 * (2.0 / 15.0)));
  return mix(sign(x) * (1.0 - e) / (1.0 + e), series, lessThan(abs(x), vec4(0.03)));
}

vec4 activation_hard_sigmoid(vec4 x) {
  return clamp(activation_constants.x * x + activation_constants.y, vec4(0), vec4(1));
}
vec4 activation_hard_swish(vec4 x) { return x * clamp(x / 6.0 + 0.5, vec4(0), vec4(1)); }

vec4 activation_expm1(vec4 x) { return exp(min(x, vec4(0))) - 1.0; }
vec4 activation_elu(vec4 x) { return mix(x, activation_constants.x * activation_expm1(x), lessThan(x, vec4(0))); }
vec4 activation_selu(vec4 x) { return activation_constants.z * activation_elu(x); }
vec4 activation_celu(vec4 x) {
  return max(x, vec4(0)) + min(activation_constants.x * (exp(min(x / activation_constants.x, vec4(80))) - 1.0), vec4(0));
}

vec4 activation_softplus(vec4 x) { return max(x, vec4(0)) + log(1.0 + exp(-abs(x))); }
vec4 activation_softsign(vec4 x) { return x / (1.0 + abs(x)); }
vec4 activation_thresholded_relu(vec4 x) {
  return mix(vec4(0), x, greaterThan(x, vec4(activation_constants.x)));
}
vec4 activation_silu(vec4 x) { return x * activation_sigmoid(x); }
vec4 activation_mish(vec4 x) { return x * activation_tanh(activation_softplus(x)); }

// Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: absolute error below 1.5e-7.
vec4 activation_erf(vec4 x) {
  vec4 a = abs(x);
  vec4 t = 1.0 / (1.0 + 0.3275911 * a);
  vec4 series =
      ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return sign(x) * (1.0 - series * exp(-a * a));
}
vec4 activation_gelu(vec4 x) { return 0.5 * x * (1.0 + activation_erf(x * 0.70710678)); }
vec4 activation_gelu_tanh(vec4 x) {
  // Beyond |x| = 10 the tanh is +-1 to the last bit; the bound keeps the cube finite.
  vec4 b = clamp(x, vec4(-10), vec4(10));
  return 0.5 * x * (1.0 + activation_tanh(0.79788456 * (b + 0.044715 * b * b * b)));
}

// With RESULTS_IN_STEPS activate() returns numbers of steps, which store_y() stores in bytes (tensor.glsl).
vec4 activation_steps(vec4 x) {
#if defined(SUMS_IN_STEPS) && !defined(RESIDUAL)
  vec4 steps = bounded_steps(x, activation_constants.y, activation_constants.z);
#else
  vec4 steps = count_steps(x, activation_constants.w, activation_constants.y, activation_constants.z);
#endif
#ifdef RESULTS_IN_STEPS
  return steps;
#else
  return steps * activation_constants.w;
#endif
}
#define ROUNDED_FN_(kind) \
  vec4 CAT(activation_rounded_, kind)(vec4 x) { return activation_steps(CAT(activation_, kind)(x)); }
ROUNDED_FN_(none)
ROUNDED_FN_(leaky_relu)
ROUNDED_FN_(sigmoid)
ROUNDED_FN_(tanh)
ROUNDED_FN_(hard_swish)
ROUNDED_FN_(elu)
ROUNDED_FN_(celu)
ROUNDED_FN_(softplus)
ROUNDED_FN_(softsign)
ROUNDED_FN_(thresholded_relu)
ROUNDED_FN_(silu)
ROUNDED_FN_(mish)
ROUNDED_FN_(erf)
ROUNDED_FN_(gelu)
ROUNDED_FN_(gelu_tanh)

// LOOK_UP_FN(name, load, first) defines vec4 name(vec4 v), which looks up rounded results of an activation function in a
// table of 256 elements: load(first) to load(first + 255). A result of n steps has the index n - `least`.
ivec4 index_of_steps(vec4 v) {
#ifdef RESULTS_IN_STEPS
  return ivec4(v - activation_constants.y);
#else
  vec4 steps = v / activation_constants.w - activation_constants.y;
  return clamp(ivec4(roundEven(steps)), ivec4(0), ivec4(255));
#endif
}
#define LOOK_UP_FN(name, load, first)                                                               \
  vec4 name(vec4 v) {                                                                               \
    ivec4 i = first + index_of_steps(v);                                                            \
    return vec4(load(i.x), load(i.y), load(i.z), load(i.w));                                        \
  }

#ifdef TABLE
LINEAR_IN(table)
LOOK_UP_FN(look_up_result, load_table, 0)
vec4 activate(vec4 x) { return look_up_result(CAT(activation_, ACTIVATION)(x)); }
#elif defined(ACTIVATION_SCALED)
vec4 activate(vec4 x) { return activation_constants.z * CAT(activation_, ACTIVATION)(x) + activation_constants.w; }
#else
vec4 activate(vec4 x) { return CAT(activation_, ACTIVATION)(x); }
#endif
