// Reduction of a channels4 tensor over any of W, H, C, N, which are 1 in y. With SEGMENTED an invocation reduces
// one segment of the loop, and y holds the results of the segments along N: n + segment * images. A second
// dispatch, with OF_PARTS, reduces y over the segments (reduce.glsl). CENTRED: reduces the differences from a mean.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "subgroup_arithmetic.glsl"

#include "reduce.h"
#include "tensor.glsl"
#include "divide.glsl"
#include "cooperate.glsl"
#include "reduce.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)
#ifdef CENTRED
#define mean_shape y_shape
TENSOR_IN(mean)
vec4 centre;
#endif

// Returns the texel at q; with MASKED, unused channels become `neutral`.
vec4 load_part(ivec4 q, float neutral) {
  vec4 v = load_x(q);
#ifdef CENTRED
  v -= centre;
#endif
#ifdef MASKED
  v = mix(vec4(neutral), v, lessThan(4 * q.z + ivec4(0, 1, 2, 3), ivec4(x_shape.z)));
#endif
  return v;
}

#ifdef CHANNELS
#define ACROSS(join, v) v = join(join(v.xxxx, v.yyyy), join(v.zzzz, v.wwww))
#else
#define ACROSS(join, v)
#endif

// A loop over the texels q that are reduced to the texel p, along rows first. Invocations that share the loop
// alternate texel by texel. ALONG: the texels q are along one dimension. ALONG_PARTS: they are results of segments.
#ifdef SEGMENTED
#define FIRST_PART (first_part + FIRST_LANE)
#define END_PART end_part
#else
#define FIRST_PART FIRST_LANE
#define END_PART (extent.x * extent.y * extent.z * extent.w)
#endif

#ifdef ALONG
#define FOR_EACH_PART(q)                            \
  for (int k = FIRST_PART; k < parts; k += LANES) { \
    ivec4 q = p + k * direction;
#define END_EACH_PART }
#elif defined(COOPERATIVE) || defined(BY_SUBGROUPS) || defined(SEGMENTED)
#define FOR_EACH_PART(q)                                                                              \
  for (int k = FIRST_PART; k < END_PART; k += LANES) {                                                \
    ivec2 by_column = divide(k, extent.x), by_row = divide(by_column.x, extent.y), by_slice = divide(by_row.x, extent.z); \
    ivec4 q = p + ivec4(by_column.y, by_row.y, by_slice.y, by_slice.x);
#define END_EACH_PART }
#else
#define FOR_EACH_PART(q)                              \
  for (int n = 0; n < extent.w; ++n)                  \
    for (int slice = 0; slice < extent.z; ++slice)    \
      for (int row = 0; row < extent.y; ++row)        \
        for (int column = 0; column < extent.x; ++column) { \
          ivec4 q = p + ivec4(column, row, slice, n);
#define END_EACH_PART }
#endif

void main() {
  int index = result_index();
  ivec2 by_column = divide(index, y_shape.x), by_row = divide(by_column.x, y_shape.y);
  ivec2 by_slice = divide(by_row.x, slices(y_shape.z));
  ivec4 p = ivec4(by_column.y, by_row.y, by_slice.y, by_slice.x);
  if (p.w >= y_shape.w) return;
  ivec4 result = p;
#ifdef SEGMENTED
  ivec2 by_image = divide(p.w, images);
  p.w = by_image.y;
  int first_part = by_image.x * segment;
  int end_part = min(first_part + segment, extent.x * extent.y * extent.z * extent.w);
#endif
#ifdef CENTRED
  centre = load_mean(p);
#endif
#ifdef ALONG
#ifdef ALONG_PARTS
  ivec4 direction = ivec4(0, 0, 0, y_shape.w);
#else
  ivec4 direction = ivec4(greaterThan(extent, ivec4(1)));
#endif
#ifdef SEGMENTED
  int parts = end_part;
#else
  int parts = max(max(extent.x, extent.y), max(extent.z, extent.w));
#endif
#endif
  vec4 shift = vec4(0);
#ifdef LOG_SUM_EXP
  shift = vec4(-INFINITY);
  FOR_EACH_PART(q) shift = join_max(shift, load_part(q, -INFINITY)); END_EACH_PART
  shift = gather_max(shift);
  ACROSS(join_max, shift);
  vec4 largest = shift;
  shift = mix(largest, vec4(0), is_inf(largest));
#endif
  vec4 total = vec4(NEUTRAL);
#ifdef LOG_SUM_EXP
  FOR_EACH_PART(q) total = JOIN(total, TERM(load_part(q, -INFINITY) - shift)); END_EACH_PART
#else
  FOR_EACH_PART(q) total = JOIN(total, TERM(load_part(q, NEUTRAL))); END_EACH_PART
#endif
  total = GATHER(total);
  ACROSS(JOIN, total);
  total = FINISH(total, count) + shift;
#ifdef LOG_SUM_EXP
  total = mix(total, largest, is_inf(largest));  // exp(-infinity) need not be 0
#endif
  if (FIRST_LANE == 0) store_y(result, total);
}
