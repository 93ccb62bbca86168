// Gathers Q, K or V into a grid of texels for attention.comp: column = image * tokens + token, row = first_row + head *
// slices + slice of four channels. If one tensor contains several of them at regular distances (a product that computed Q,
// K and V at once), `parts` of them follow one another.
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Params {
  ivec4 y_shape;  // of the grid: width, height, 4, 1
  ivec4 size;     // tokens, heads, channels, images
  ivec4 strides;  // likewise, in elements of x
  int base;
  int parts;
  int part_stride;
  int first_row;
};

#include "tensor.glsl"
#include "divide.glsl"

LINEAR_IN(0, x)
TENSOR_OUT(1, y)

void main() {
  int width = size.x * size.w, slices_each = slices(size.z);
  ivec2 by_column = divide(flat_index(), width);
  if (by_column.x >= parts * size.y * slices_each) return;
  ivec2 by_token = divide(by_column.y, size.x);
  ivec2 by_slice = divide(by_column.x, slices_each);
  ivec2 by_head = divide(by_slice.x, size.y);
  int channel = 4 * by_slice.y;
  int at = base + by_head.x * part_stride +
           by_token.y * strides.x + by_head.y * strides.y + channel * strides.z + by_token.x * strides.w;
  vec4 v = vec4(0);
  for (int j = 0; j < 4; ++j)
    if (channel + j < size.z) v[j] = load_x(at + j * strides.z);
  store_y(ivec4(by_column.y, first_row + by_column.x, 0, 0), v);
}
