// The maximum m of each row of a linear tensor and the sum of exp(x - m) over it, as (m, sum, 0, 0). A row is
// `length` elements, `inner` apart. First half of Softmax; softmax_linear.comp is the second.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "subgroup_arithmetic.glsl"

#include "softmax_statistics.h"
#include "tensor.glsl"
#include "cooperate.glsl"

LINEAR_IN(x)
LINEAR_OUT(statistics)

void main() {
  int r = result_index();
  if (r >= rows) return;
  int outer = r / inner;
  int first = outer * length * inner + r - outer * inner;
  vec4 largest = vec4(-INFINITY);
  for (int k = FIRST_LANE; k < length; k += LANES) largest = join_max(largest, vec4(load_x(first + k * inner)));
  largest = gather_max(largest);
  vec4 total = vec4(0);
  for (int k = FIRST_LANE; k < length; k += LANES) total.x += exp(load_x(first + k * inner) - largest.x);
  total = gather_sum(total);
  if (FIRST_LANE == 0) store_statistics(r, vec4(largest.x, total.x, 0, 0));
}
