// vec4 with_residual(vec4 v, ivec4 p) returns v, with RESIDUAL plus the residual's texel at p. The residual
// may have fewer channels; missing channels count as zero. It may be of one image, which is added to all images. With SUM_BOUNDS v is first clamped to the bounds
// in activation_params.zw; with SUM_ROUNDED it is first rounded by the appended parameters sum_step, sum_least
// and sum_most. With FIXED_PAIR in addition, v and the residual are added as integers (fixed_point.glsl).
// Include this file after TENSOR_IN(residual) and activation.glsl.
#include "fixed_point.glsl"

vec4 with_residual(vec4 v, ivec4 p) {
#ifdef RESIDUAL
#ifdef SUM_ROUNDED
#ifdef SUMS_IN_STEPS
  vec4 steps = bounded_steps(v, sum_least, sum_most);
#else
  vec4 steps = count_steps(v, sum_step, sum_least, sum_most);
#endif
  v = steps * sum_step;
#endif
#ifdef SUM_BOUNDS
  v = min(max(v, vec4(activation_constants.z)), vec4(activation_constants.w));
#endif
  int residual_slices = slices(residual_shape.z);
  vec4 r = load_residual(ivec4(p.xy, min(p.z, residual_slices - 1), min(p.w, residual_shape.w - 1)));
  r = p.z < residual_slices ? r : vec4(0);
#ifdef FIXED_PAIR
  v = vec4(fixed_Add(ivec4(steps), whole_steps(r, fixed_b_step))) * activation_constants.w;
#else
  v += r;
#endif
#endif
  return v;
}
