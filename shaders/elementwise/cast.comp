// Converts between floats and 32-bit integers of linear tensors. FROM_INTEGER: x has integers (with
// FROM_UNSIGNED unsigned ones). TO_INTEGER rounds towards zero, clamps to [low, high] and converts NaN to 0; with
// TO_UNSIGNED the integers have 32 bits and no sign.
// TO_BOOL: 1 where the element is not zero.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#include "cast.h"
#include "inf_nan.glsl"
#include "tensor.glsl"

LINEAR_IN(x)
LINEAR_OUT(y)

#ifdef TO_INTEGER
int to_integer(float v) {
  if (is_nan(v)) return 0;
#ifdef TO_UNSIGNED
  return v >= 4294967296.0 ? -1 : int(uint(max(v, 0.0)));
#endif
  // Bounds are not exact as floats: compare before converting.
  return v >= float(high) ? high : v <= float(low) ? low : int(v);
}
#endif

void main() {
  int i4 = flat_index();
  if (i4 >= count4) return;
#if defined(TO_INTEGER)
  vec4 v = load4_x(i4);
  store_y(i4, ivec4(to_integer(v.x), to_integer(v.y), to_integer(v.z), to_integer(v.w)));
#elif defined(TO_BOOL)
#ifdef FROM_INTEGER
  store_y(i4, ivec4(notEqual(load4_x(i4), ivec4(0))));
#else
  store_y(i4, ivec4(not(equal(load4_x(i4), vec4(0)))));
#endif
#elif defined(FROM_UNSIGNED)
  store_y(i4, vec4(uvec4(load4_x(i4))));
#else
  store_y(i4, vec4(load4_x(i4)));
#endif
}
