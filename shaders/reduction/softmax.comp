// Softmax (with LOG its logarithm) of a channels4 tensor along one axis. An invocation, or several (cooperate.glsl),
// computes one row: `length` texels in `direction`. CHANNELS: the row runs across the channels.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "subgroup_arithmetic.glsl"

#include "softmax.h"
#define x_shape y_shape
#include "tensor.glsl"
#include "divide.glsl"
#include "cooperate.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

vec4 load_part(ivec4 p) {
  vec4 v = load_x(p);
#ifdef CHANNELS
  v = mix(vec4(-INFINITY), v, lessThan(4 * p.z + ivec4(0, 1, 2, 3), ivec4(y_shape.z)));
#endif
  return v;
}

void main() {
  // Neighbouring invocations compute neighbouring columns.
  ivec2 by_column = divide(result_index(), rows.x), by_row = divide(by_column.x, rows.y);
  ivec2 by_slice = divide(by_row.x, slices(rows.z));
  ivec4 p = ivec4(by_column.y, by_row.y, by_slice.y, by_slice.x);
  if (p.w >= rows.w) return;
  vec4 largest = vec4(-INFINITY);
  for (int k = FIRST_LANE; k < length; k += LANES) largest = join_max(largest, load_part(p + k * direction));
  largest = gather_max(largest);
#ifdef CHANNELS
  largest = join_max(join_max(largest.xxxx, largest.yyyy), join_max(largest.zzzz, largest.wwww));
#endif
  vec4 total = vec4(0);
  for (int k = FIRST_LANE; k < length; k += LANES) total += exp(load_part(p + k * direction) - largest);
  total = gather_sum(total);
#ifdef CHANNELS
  total = vec4(dot(total, vec4(1)));
#endif
  for (int k = FIRST_LANE; k < length; k += LANES) {
    ivec4 q = p + k * direction;
    vec4 v = load_x(q) - largest;
#ifdef LOG
    store_y(q, v - log(total));
#else
    store_y(q, exp(v) / total);
#endif
  }
}
