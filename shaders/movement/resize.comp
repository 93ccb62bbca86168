// Resize along W and H of a channels4 tensor: an output texel is a weighted sum of TAPS * TAPS input texels, TAPS 1, 2
// or 4.
//
// `table` has a column per output column, then one per output row. Its row 0 holds the input coordinates of at most four
// taps, negative for the extrapolation value; its row 1 holds their weights. The host computes the table
// (runtime/kernels/movement/resize.cpp), so that coordinates round as in the host reference.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "resize.h"
#include "tensor.glsl"
#include "texel.glsl"

TENSOR_IN(x)
TEXELS_IN(table)
TENSOR_OUT(y)

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  int width = y_shape.x + y_shape.y, row = y_shape.x + p.y;
  ivec4 x_index = ivec4(load_table(p.x, 0, width)), y_index = ivec4(load_table(row, 0, width));
  vec4 v = vec4(0);
  if (min(x_index.x, y_index.x) < 0) {
    v = vec4(extrapolation);
  } else {
#if TAPS == 1
    v = load_x(ivec4(x_index.x, y_index.x, p.zw));
#else
    vec4 x_weight = load_table(p.x, 1, width), y_weight = load_table(row, 1, width);
    for (int j = 0; j < TAPS; ++j) {
      vec4 line = vec4(0);
      for (int i = 0; i < TAPS; ++i) line += x_weight[i] * load_x(ivec4(x_index[i], y_index[j], p.zw));
      v += y_weight[j] * line;
    }
#endif
  }
  store_y(p, v);
}
