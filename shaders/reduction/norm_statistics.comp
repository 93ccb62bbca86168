// Mean and 1 / standard deviation of each row of `length` elements of a linear tensor, as (mean, 1 /
// deviation, 0, 0). An invocation, or several (cooperate.glsl), computes one row. First half of layer, group
// and instance normalisation; norm_linear.comp is the second. UNCENTRED: uses a mean of 0 (RMSNormalization).
// SEGMENTED: the results are (mean, sum of squared deviations, elements, 0) of each segment of each row;
// norm_parts.comp then combines the segments.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "subgroup_arithmetic.glsl"

#include "norm_statistics.h"
#include "tensor.glsl"
#include "divide.glsl"
#include "cooperate.glsl"

LINEAR_IN(x)
LINEAR_OUT(statistics)

void main() {
  int r = result_index();
  if (r >= rows) return;
#ifdef SEGMENTED
  ivec2 by_segment = divide(r, segments);
  int begin = by_segment.y * segment, first = by_segment.x * length + begin, count = min(segment, length - begin);
#else
  int first = r * length, count = length;
#endif
#ifdef UNCENTRED
  const float mean = 0.0;
#else
  float sum = 0.0;
  for (int k = FIRST_LANE; k < count; k += LANES) sum += load_x(first + k);
  float mean = gather_sum(vec4(sum)).x / float(count);
#endif
  // A second pass for the variance: the mean of squares less the square of the mean would cancel.
  float squares = 0.0;
  for (int k = FIRST_LANE; k < count; k += LANES) {
    float d = load_x(first + k) - mean;
    squares += d * d;
  }
  squares = gather_sum(vec4(squares)).x;
#ifdef SEGMENTED
  if (FIRST_LANE == 0) store_statistics(r, vec4(mean, squares, count, 0));
#else
  if (FIRST_LANE == 0) store_statistics(r, vec4(mean, 1.0 / sqrt(squares / float(count) + epsilon), 0, 0));
#endif
}
