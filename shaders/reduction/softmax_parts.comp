// Combines the statistics of the segments of each row of Softmax (softmax_statistics.comp). From the maxima m of the segments
// and their sums s of exp(x - m) it computes the largest maximum M and the sum of s * exp(m - M), as in Milakov, Gimelshein,
// Online normalizer calculation for softmax, 2018. An invocation, or several (cooperate.glsl), computes one row.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "subgroup_arithmetic.glsl"

#include "softmax_parts.h"
#include "tensor.glsl"
#include "cooperate.glsl"

LINEAR_IN(parts)
LINEAR_OUT(statistics)

void main() {
  int r = result_index();
  if (r >= rows) return;
  vec4 largest = vec4(-INFINITY);
  for (int k = FIRST_LANE; k < segments; k += LANES) largest = join_max(largest, load4_parts(k * rows + r).xxxx);
  largest = gather_max(largest);
  vec4 total = vec4(0);
  for (int k = FIRST_LANE; k < segments; k += LANES) {
    vec4 part = load4_parts(k * rows + r);
    if (part.x != -INFINITY) total.x += part.y * exp(part.x - largest.x);
  }
  total = gather_sum(total);
  if (FIRST_LANE == 0) store_statistics(r, vec4(largest.x, total.x, 0, 0));
}
