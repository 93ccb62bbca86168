// Resize along W and H of a channels4 tensor: an output texel is a weighted sum of TAPS * TAPS input texels, TAPS 1, 2
// or 4.
//
// `table` has a column per output column, then one per output row. Its row 0 holds the input coordinates of at most four
// taps, negative for the extrapolation value; its row 1 holds their weights. The host computes the table
// (runtime/kernels/movement/resize.cpp), so that coordinates round as in the host reference.
//
// With Y_LINEAR y is linear: an invocation stores the four channels of a texel one by one.
//
// With FIXED_RESIZE or FIXED_IN_FLOATS elements are quantised integers with the zero point `fixed_zero`, which are interpolated
// as in LiteRT (FixedResize in graph/operators/movement/resize.hpp).
#version 450
#extension GL_GOOGLE_include_directive : require

#include "resize.h"
#include "tensor.glsl"
#include "texel.glsl"

TENSOR_IN(x)
TEXELS_IN(table)
#ifdef Y_LINEAR
SCALARS_OUT(y)
void store_texel(ivec4 p, vec4 v) {
  int plane = y_shape.x * y_shape.y, first = (p.w * y_shape.z + 4 * p.z) * plane + p.y * y_shape.x + p.x;
  for (int j = 0; j < 4; ++j)
    if (4 * p.z + j < y_shape.z) set_y(first + j * plane, v[j]);
}
#else
TENSOR_OUT(y)
#include "epilogue.glsl"
void store_texel(ivec4 p, vec4 v) { store_result(p, v); }
#endif

#if defined(FIXED_RESIZE) || defined(FIXED_IN_FLOATS)
ivec4 stored_x(int column, int row, ivec2 p) {
  return ivec4(roundEven(load_x(ivec4(column, row, p)) / fixed_step)) + fixed_zero;
}
#endif

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
#ifdef FIXED_RESIZE
    const float ONE = 1024.0;
    ivec4 sum = ivec4(0);
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 2; ++i)
        sum += int(y_weight[j] * ONE) * int(x_weight[i] * ONE) * stored_x(x_index[i], y_index[j], p.zw);
    v = vec4(sign(sum) * ((abs(sum) + (1 << 19)) >> 20) - fixed_zero) * fixed_step;
#elif defined(FIXED_IN_FLOATS)
    precise vec4 sum = vec4(0);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) {
        precise vec4 in_rows = vec4(stored_x(x_index[i], y_index[j], p.zw)) * y_weight[j];
        precise vec4 product = in_rows * x_weight[i];
        sum = sum + product;
      }
    v = vec4(ivec4(sum + 0.5) - fixed_zero) * fixed_step;
#else
    for (int j = 0; j < TAPS; ++j) {
      vec4 line = vec4(0);
      for (int i = 0; i < TAPS; ++i) line += x_weight[i] * load_x(ivec4(x_index[i], y_index[j], p.zw));
      v += y_weight[j] * line;
    }
#endif
#endif
  }
  store_texel(p, v);
}
