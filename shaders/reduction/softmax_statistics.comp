// The maximum m of each row of a linear tensor and the sum of exp(x - m) over it, as (m, sum, 0, 0). A row is
// `length` elements, `inner` apart. First half of Softmax; softmax_linear.comp is the second. SEGMENTED: the
// results are the statistics of each segment of each row, one segment after another; softmax_parts.comp then
// combines the segments.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "subgroup_arithmetic.glsl"

#include "softmax_statistics.h"
#include "tensor.glsl"
#include "divide.glsl"
#include "cooperate.glsl"

LINEAR_IN(x)
LINEAR_OUT(statistics)

void main() {
  int result = result_index(), r = result;
#ifdef SEGMENTED
  ivec2 by_segment = divide(result, rows);
  int begin = by_segment.x * segment, end = min(begin + segment, length);
  if (begin >= length) return;
  r = by_segment.y;
#else
  const int begin = 0;
  int end = length;
#endif
  if (r >= rows) return;
  int outer = r / inner;
  int first = outer * length * inner + r - outer * inner;
  vec4 largest = vec4(-INFINITY);
  for (int k = begin + FIRST_LANE; k < end; k += LANES) largest = join_max(largest, vec4(load_x(first + k * inner)));
  largest = gather_max(largest);
  vec4 total = vec4(0);
  for (int k = begin + FIRST_LANE; k < end; k += LANES) total.x += exp(load_x(first + k * inner) - largest.x);
  total = gather_sum(total);
#ifdef SEGMENTED
  if (largest.x == -INFINITY) total.x = 0.0;  // in place of NaN from exp(-infinity - -infinity)
#endif
  if (FIRST_LANE == 0) store_statistics(result, vec4(largest.x, total.x, 0, 0));
}
