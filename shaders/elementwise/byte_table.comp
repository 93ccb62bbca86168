// A function of one quantised tensor, by a table of its values: entry i is the value of an element (first + i) * x_step. Each row
// of the table has 64 texels.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "byte_table.h"
#define x_shape y_shape
#include "tensor.glsl"
#include "texel.glsl"

TEXELS_IN(table)

vec4 entries_of(vec4 x) {
  ivec4 i = clamp(ivec4(roundEven(x / x_step)) - first, ivec4(0), ivec4(last));
  vec4 y;
  for (int c = 0; c < 4; ++c) y[c] = load_table((i[c] >> 2) & 63, i[c] >> 8, 64)[i[c] & 3];
  return y;
}

#ifdef LINEAR_LAYOUT

LINEAR_IN(x)
LINEAR_OUT(y)

void main() {
  int i4 = flat_index();
  if (i4 < count4) store_y(i4, entries_of(load4_x(i4)));
}

#else

TENSOR_IN(x)
TENSOR_OUT(y)

void main() {
  ivec4 p;
  if (output_texel(y_shape, p)) store_y(p, entries_of(load_x(p)));
}

#endif
