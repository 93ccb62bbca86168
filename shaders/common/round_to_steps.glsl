// Rounding as QuantizeLinear and DequantizeLinear do, or with TIES_AWAY as TFLite's QUANTIZE does.
#ifndef ROUND_TO_STEPS_GLSL
#define ROUND_TO_STEPS_GLSL

#include "divide.glsl"

// Returns the number of steps that is nearest to x, ties to even or away from zero, clamped to least and most. It divides as
// exactly as quantize.comp does. The bounds are integers, so rounding may be the last operation. A NaN becomes 0.
//
// With WIDE_STEPS least or most is beyond 2000 steps. With CLOSE_STEPS the quick quotient may be on the wrong side of a tie
// (kernels/framework/step_rounding.hpp checks it for all ties of the step).
vec4 count_steps(vec4 x, float step, float least, float most) {
#if defined(FIXED_PAIR) && (!defined(RESIDUAL) || defined(SUMS_IN_STEPS))
  // Fixed-point results are whole steps, so an inexact quotient still rounds correctly.
  return roundEven(clamp(without_nan(x / step), vec4(least), vec4(most)));
#elif defined(WIDE_STEPS)
  return round_ties(clamp(without_nan(exact_halves(x, vec4(step))), vec4(least), vec4(most)));
#elif defined(CLOSE_STEPS)
  Step divisor = step_of_size(step);
  vec4 v = without_nan(x);
  vec4 halves = roundEven(clamp(v * divisor.twice_inverse, vec4(2.0 * least - 2.0), vec4(2.0 * most + 2.0)));
  return clamp(nearest_steps(v, halves, divisor), vec4(least), vec4(most));
#else
  return quick_steps(clamp(without_nan(x), vec4(least * step), vec4(most * step)), step_of_size(step));
#endif
}

// Returns the integers that are nearest to x, clamped to least and most. x is finite.
vec4 bounded_steps(vec4 x, float least, float most) {
#ifdef FIXED_POINT
  return clamp(x, vec4(least), vec4(most));
#else
  return clamp(round_ties(x), vec4(least), vec4(most));
#endif
}

// Returns the value of x after QuantizeLinear and DequantizeLinear.
vec4 round_to_steps(vec4 x, float step, float least, float most) { return count_steps(x, step, least, most) * step; }
#endif
