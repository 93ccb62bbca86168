// Softmax (with LOG its logarithm) of a linear tensor along `length` elements that are `inner` apart, in one dispatch. An
// invocation, or several (cooperate.glsl), computes
//   COLUMNS          four neighbouring rows (inner is a multiple of four)
//   SCALARS          one row of consecutive elements, which may begin and end within a texel
//   COLUMNS SCALARS  one row
//   else             one row of consecutive elements that are whole texels
// With SCALARS elements are stored one by one.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "subgroup_arithmetic.glsl"

#include "softmax_rows.h"
#include "tensor.glsl"
#include "divide.glsl"
#include "cooperate.glsl"

#ifdef SCALARS
LINEAR_IN(x)
SCALARS_OUT(y)
#else
QUADS_IN(x)
LINEAR_OUT(y)
#endif

#ifdef COLUMNS
#define ACROSS(join, v)
#else
#define ACROSS(join, v) v = join(join(v.xxxx, v.yyyy), join(v.zzzz, v.wwww))
#endif

#ifdef LOG
#define FINISH(v, largest, total) ((v) - largest - total)
#else
#define FINISH(v, largest, total) (exp((v) - largest) * total)
#endif

void main() {
  int row = result_index();
  if (row >= count) return;
#ifdef COLUMNS
#ifdef SCALARS
  const int step = inner;
#define PART(k) vec4(load_x(first + (k) * step))
#else
  const int step = inner >> 2;
#define PART(k) load4_x(first + (k) * step)
#endif
  ivec2 by_column = divide(row, step);
  int first = by_column.x * length * step + by_column.y, texels = length;
#elif defined(SCALARS)
  int begin = row * length, first = begin >> 2, texels = ((begin + length + 3) >> 2) - first;
  uvec4 offset = uvec4(4 * first - begin + ivec4(0, 1, 2, 3));  // large for elements before the row
#define PART(k) mix(vec4(-INFINITY), load4_x(first + (k)), lessThan(offset + uint(4 * (k)), uvec4(length)))
#else
  int texels = length >> 2, first = row * texels;
  const int step = 1;
#define PART(k) load4_x(first + (k))
#endif

  vec4 largest = vec4(-INFINITY);
  for (int k = FIRST_LANE; k < texels; k += LANES) largest = join_max(largest, PART(k));
  largest = gather_max(largest);
  ACROSS(join_max, largest);
  vec4 total = vec4(0);
  for (int k = FIRST_LANE; k < texels; k += LANES) total += exp(PART(k) - largest);
  total = gather_sum(total);
  ACROSS(join_sum, total);
#ifdef LOG
  total = log(total);
#else
  total = 1.0 / total;
#endif
#if defined(COLUMNS) && defined(SCALARS)
  for (int k = FIRST_LANE; k < texels; k += LANES) set_y(first + k * step, FINISH(PART(k), largest, total).x);
#elif defined(SCALARS)
  for (int k = FIRST_LANE; k < texels; k += LANES) {
    vec4 v = FINISH(load4_x(first + k), largest, total);
    for (int j = 0; j < 4; ++j) {
      int i = 4 * (first + k) + j;
      if (i >= begin && i < begin + length) set_y(i, v[j]);
    }
  }
#else
  for (int k = FIRST_LANE; k < texels; k += LANES) store_y(first + k * step, FINISH(PART(k), largest, total));
#endif
}
