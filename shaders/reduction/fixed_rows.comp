// A function of the rows of a quantised tensor, from their statistics (fixed_rows_statistics.comp). SOFTMAX, SHORT: see there.
// Else a row divided by its Euclidean length; UNSIGNED: of uint8.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "fixed_rows.h"
#include "tensor.glsl"
#include "fixed_point.glsl"
#include "fixed_functions.glsl"

LINEAR_IN(x)
#ifdef SOFTMAX
LINEAR_IN(exps)
#endif
LINEAR_IN(statistics)
LINEAR_OUT(y)

int result_of(int v, ivec4 row) {
#ifdef SHORT
  return (load_exps(min(row.x - v, last)) * row.y + ((1 << row.z) >> 1)) >> row.z;
#elif defined(SOFTMAX)
  if (row.z > 31) return 0;
  return rounding_shift(high_product(row.y, load_exps(min(row.x - v, last))), row.z);
#elif defined(UNSIGNED)
  return rounding_shift(high_product(128 * v, row.x), row.y);
#else
  // The shift to the right is 7 less, as results are in steps of 2^-7.
  return rounding_shift(high_product(v << max(7 - row.y, 0), row.x), max(row.y - 7, 0));
#endif
}

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  ivec4 v = whole_steps(load4_x(i4), x_step), result;
  for (int j = 0; j < 4; ++j) {
    int i = min(4 * i4 + j, count - 1);
    int outer = i / (length * inner);
    result[j] = clamp(result_of(v[j], load4_statistics(outer * inner + i % inner)), least, most);
  }
  store_y(i4, vec4(result) * y_step);
}
