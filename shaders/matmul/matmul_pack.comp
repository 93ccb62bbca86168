// Converts an operand of a matrix product for matmul.comp: matrices by rows, each row padded with zeros to whole texels.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "matmul_pack.h"
#include "tensor.glsl"
#include "divide.glsl"

LINEAR_IN(x)
LINEAR_OUT(y)

void main() {
  int i4 = flat_index();
  ivec2 by_texel = divide(i4, row_texels);
  ivec2 by_row = divide(by_texel.x, rows);
  if (by_row.x >= matrices) return;
  int first = by_row.x * rows * columns + by_row.y * row_stride;
  ivec4 column = 4 * by_texel.y + ivec4(0, 1, 2, 3);
  ivec4 at = first + min(column, ivec4(columns - 1)) * column_stride;
  vec4 v = vec4(load_x(at.x), load_x(at.y), load_x(at.z), load_x(at.w));
  store_y(i4, mix(vec4(0), v, lessThan(column, ivec4(columns))));
}
