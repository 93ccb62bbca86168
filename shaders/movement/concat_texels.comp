// Concatenates two to eight tensors (all channels4) along one axis: x0, x1, ... follow each other in y.
//
// INPUTS: concat_parts.glsl.
// AXIS: the axis in (w, h, c, n); 0 to 3.
// UNALIGNED: of channels, a part begins within a texel.
// KEEP: y has channels before x0 in the first texel, which stay.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#include "concat_texels.h"
#include "concat_parts.glsl"
#include "tensor.glsl"
#include "texel.glsl"

#if AXIS == 0
#define SHAPE_FROM(begin, end) ivec4((end) - (begin), y_shape.yzw)
#elif AXIS == 1
#define SHAPE_FROM(begin, end) ivec4(y_shape.x, (end) - (begin), y_shape.zw)
#elif AXIS == 2
#define SHAPE_FROM(begin, end) ivec4(y_shape.xy, (end) - (begin), y_shape.w)
#else
#define SHAPE_FROM(begin, end) ivec4(y_shape.xyz, (end) - (begin))
#endif
#define x0_shape SHAPE_FROM(begin, ends.x)
#define x1_shape SHAPE_FROM(ends.x, ends.y)
#define x2_shape SHAPE_FROM(ends.y, ends.z)
#define x3_shape SHAPE_FROM(ends.z, ends.w)
#define x4_shape SHAPE_FROM(ends.w, further_ends.x)
#define x5_shape SHAPE_FROM(further_ends.x, further_ends.y)
#define x6_shape SHAPE_FROM(further_ends.y, further_ends.z)
#define x7_shape SHAPE_FROM(further_ends.z, further_ends.w)

#define DECLARE_PART(x, first, end) TENSOR_IN(x)
FOR_PARTS(DECLARE_PART)
#ifdef KEEP
TENSOR_INOUT(y)
#else
TENSOR_OUT(y)
#endif

// v with the channels of y from c on that are in [first, end) replaced. The texels `a` and `b` of a part follow each other,
// and channel `c - first` of the part is in the first of them.
vec4 with_channels(vec4 v, vec4 a, vec4 b, int c, int first, int end) {
  int shift = (c - first) & 3;
  vec4 moved = shift == 0 ? a : shift == 1 ? vec4(a.yzw, b.x) : shift == 2 ? vec4(a.zw, b.xy) : vec4(a.w, b.xyz);
  ivec4 channels = c + ivec4(0, 1, 2, 3);
  bvec4 before_end = lessThan(channels, ivec4(end)), from_first = greaterThanEqual(channels, ivec4(first));
  return mix(v, moved, bvec4(ivec4(before_end) & ivec4(from_first)));
}

void main() {
  ivec4 p;
  if (!output_texel(size, p)) return;
  p += origin;
#ifdef UNALIGNED
  int c = 4 * p.z;
#ifdef KEEP
  vec4 v = load_y(p);
#else
  vec4 v = vec4(0);
#endif
// The slice before the first one is -1.
#define ADD_CHANNELS(x, first, end)                                                      \
  if (c < end && c + 4 > first) {                                                        \
    int slice = (c - first) >> 2, last = slices(end - first) - 1;                        \
    vec4 texel = CAT(load_, x)(ivec4(p.xy, max(slice, 0), p.w));                         \
    vec4 next = CAT(load_, x)(ivec4(p.xy, min(slice + 1, last), p.w));                   \
    v = with_channels(v, texel, next, c, first, end);                                    \
  }
  FOR_PARTS(ADD_CHANNELS)
#else
  vec4 v = vec4(0);
#if AXIS == 2
#define PLACE (4 * p.z)
#define MOVE(first) q.z -= (first) >> 2
#else
#define PLACE p[AXIS]
#define MOVE(first) q[AXIS] -= first
#endif
#define LOAD_WHERE_INSIDE(x, first, end)    \
  if (PLACE >= first && PLACE < end) {      \
    ivec4 q = p;                            \
    MOVE(first);                            \
    v = CAT(load_, x)(q);                   \
  }
  FOR_PARTS(LOAD_WHERE_INSIDE)
#endif
  store_y(p, v);
}
