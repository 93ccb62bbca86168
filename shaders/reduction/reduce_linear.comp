// Reduction of a linear tensor over any dimensions. An invocation, or several (cooperate.glsl), computes four
// consecutive elements of y. With SEGMENTED it reduces one segment of the loop; y holds the results of one segment
// after another, each in whole groups of four elements. A second dispatch, with OF_PARTS, reduces y over the
// segments (reduce.glsl). INTEGER: x and y are integers, and one invocation computes a sum.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "subgroup_arithmetic.glsl"

#include "reduce_linear.h"
#include "tensor.glsl"
#include "divide.glsl"
#include "cooperate.glsl"
#include "element.glsl"
#include "reduce.glsl"

LINEAR_IN(x)
LINEAR_OUT(y)

int offset_of(int i, int first, int last) {
  int at = 0;
  for (int d = last - 1; d >= first; --d) {
    int outer = i / dims[d];
    at += (i - outer * dims[d]) * strides[d];
    i = outer;
  }
  return at;
}

VECTOR load_part(ivec4 base, int k) {
  ivec4 at = base + offset_of(k, kept, rank);
  return VECTOR(load_x(at.x), load_x(at.y), load_x(at.z), load_x(at.w));
}

void main() {
  int i4 = result_index(), result = i4;
#ifdef SEGMENTED
  int groups = (y_count + 3) >> 2;
  ivec2 by_segment = divide(result, groups);
  i4 = by_segment.y;
  int first_part = by_segment.x * segment, end_part = min(first_part + segment, parts);
  if (first_part >= parts) return;
#define FIRST_PART (first_part + FIRST_LANE)
#define END_PART end_part
#else
#define FIRST_PART FIRST_LANE
#define END_PART parts
#endif
  if (4 * i4 >= y_count) return;
  ivec4 base;
  for (int j = 0; j < 4; ++j) base[j] = offset_of(min(4 * i4 + j, y_count - 1), 0, kept);
#ifdef INTEGER
  ivec4 sum = ivec4(0);
  for (int k = 0; k < parts; ++k) sum = plus(sum, load_part(base, k));
  store_y(result, sum);
#else
  vec4 shift = vec4(0);
#ifdef LOG_SUM_EXP
  shift = vec4(-INFINITY);
  for (int k = FIRST_PART; k < END_PART; k += LANES) shift = join_max(shift, load_part(base, k));
  shift = gather_max(shift);
  vec4 largest = shift;
  shift = mix(largest, vec4(0), is_inf(largest));
#endif
  vec4 total = vec4(NEUTRAL);
  for (int k = FIRST_PART; k < END_PART; k += LANES) total = JOIN(total, TERM(load_part(base, k) - shift));
  total = GATHER(total);
  total = FINISH(total, count) + shift;
#ifdef LOG_SUM_EXP
  total = mix(total, largest, is_inf(largest));  // exp(-infinity) need not be 0
#endif
  if (FIRST_LANE == 0) store_y(result, total);
#endif
}
