// Prepacks weights that are computed at run time. Element i of the grid is element table[i] - 1 of w followed by bias, or zero
// if table[i] is 0.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "pack_weights.h"
#include "tensor.glsl"

LINEAR_IN(table)
LINEAR_IN(w)
TENSOR_OUT(grid)
#ifdef BIAS
LINEAR_IN(bias)
#endif

float element(int number) {
  if (number == 0) return 0.0;
#ifdef BIAS
  if (number > w_count) return load_bias(number - 1 - w_count);
#endif
  return load_w(number - 1);
}

void main() {
  int i = flat_index();
  if (i >= grid_shape.x * grid_shape.y) return;
  ivec4 numbers = load4_table(i);
  vec4 v;
  for (int j = 0; j < 4; ++j) v[j] = element(numbers[j]);
  int row = i / grid_shape.x;
  store_grid(ivec4(i - row * grid_shape.x, row, 0, 0), v);
}
