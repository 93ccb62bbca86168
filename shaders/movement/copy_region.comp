// Copies a box of x into y (both channels4): Pad, Slice, Split, Concat.
//
// Element (w, h, c, n) of y is element step * (w, h, c, n) + offset of x (the step along c is 1). Where that is outside of x,
// y gets `fill`, or by `mode` the edge, the reflection or the opposite side of x (along w, h and n only). With KEEP, y is
// unchanged there.
// UNALIGNED: offset.z is not a multiple of four, or a channel outside of x must not become zero.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#include "copy_region.h"
#include "tensor.glsl"
#include "texel.glsl"
#include "divide.glsl"
#include "pad.glsl"

TENSOR_IN(x)
#ifdef KEEP
TENSOR_INOUT(y)
#else
TENSOR_OUT(y)
#endif

vec4 load_slice(ivec4 q, int slice) {
  return slice >= 0 && slice < slices(x_shape.z) ? load_x(ivec4(q.xy, slice, q.w)) : vec4(fill);
}

#ifdef UNALIGNED
vec4 load_channels(ivec4 q, int c) {
  int slice = c >> 2, shift = c & 3;
  vec4 a = load_slice(q, slice);
  vec4 b = shift == 0 ? a : load_slice(q, slice + 1);
  return shift == 0 ? a : shift == 1 ? vec4(a.yzw, b.x) : shift == 2 ? vec4(a.zw, b.xy) : vec4(a.w, b.xyz);
}
#endif

void main() {
  ivec4 p;
  if (!output_texel(size, p)) return;
  p += origin;
  ivec4 q = step * p + offset;
  bool inside = q.x >= 0 && q.y >= 0 && q.w >= 0 && q.x < x_shape.x && q.y < x_shape.y && q.w < x_shape.w;
  if (!inside && mode != PAD_CONSTANT) {
    q = ivec4(pad_source(q.x, x_shape.x, mode), pad_source(q.y, x_shape.y, mode), 0,
              pad_source(q.w, x_shape.w, mode));
    inside = true;
  }
  int c = 4 * p.z + offset.z;
#ifdef UNALIGNED
#ifdef KEEP
  vec4 outside = load_y(p);
#else
  vec4 outside = vec4(fill);
#endif
  vec4 v = inside ? load_channels(q, c) : outside;
  // Compared as unsigned integers, negative channels are beyond the end, too.
  v = mix(outside, v, lessThan(uvec4(c + ivec4(0, 1, 2, 3)), uvec4(x_shape.z)));
#else
  vec4 v = inside ? load_slice(q, c >> 2) : vec4(fill);
#endif
  store_y(p, v);
}
