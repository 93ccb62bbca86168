// Converts an operand of a matrix product for matmul.comp: matrices by rows, each row padded with zeros to whole texels.
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Params {
  ivec4 size;     // rows, columns, count of matrices, texels in a row
  ivec2 strides;  // of x: of a row, of a column
};

#include "tensor.glsl"
#include "divide.glsl"

LINEAR_IN(0, x)
LINEAR_OUT(1, y)

void main() {
  int i4 = flat_index();
  ivec2 by_texel = divide(i4, size.w);
  ivec2 by_row = divide(by_texel.x, size.x);
  if (by_row.x >= size.z) return;
  int first = by_row.x * size.x * size.y + by_row.y * strides.x;
  ivec4 column = 4 * by_texel.y + ivec4(0, 1, 2, 3);
  ivec4 at = first + min(column, ivec4(size.y - 1)) * strides.y;
  vec4 v = vec4(load_x(at.x), load_x(at.y), load_x(at.z), load_x(at.w));
  store_y(i4, mix(vec4(0), v, lessThan(column, ivec4(size.y))));
}
