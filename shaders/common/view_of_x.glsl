// Reads elements of a strided view of x by their positions in x in row-major order (runtime/kernels/movement/strided_reads.hpp).
//
// X_LINEAR: x is linear; otherwise it is channels4. X_ROWS: x has one pixel in each image (a matrix).
#include "divide.glsl"

#ifdef X_LINEAR
LINEAR_IN(x)

float load_element(int at) { return load_x(at); }

// Returns four contiguous elements; `at` is a multiple of four.
vec4 load_quad(int at) { return load4_x(at >> 2); }
#else
TENSOR_IN(x)

// Returns the position (w, h, channel, n) of element `number` of a tensor of shape (W, H, C, N).
ivec4 row_major_position(int number, ivec4 shape) {
#ifdef X_ROWS
  ivec2 by_channel = divide(number, shape.z);
  return ivec4(0, 0, by_channel.y, by_channel.x);
#else
  ivec2 by_column = divide(number, shape.x);
  ivec2 by_row = divide(by_column.x, shape.y);
  ivec2 by_channel = divide(by_row.x, shape.z);
  return ivec4(by_column.y, by_row.y, by_channel.y, by_channel.x);
#endif
}

// Returns four channels of a pixel, the first of which is a multiple of four.
vec4 load_quad(int at) {
  ivec4 p = row_major_position(at, x_shape);
  return load_x(ivec4(p.xy, p.z >> 2, p.w));
}

float load_element(int at) {
  ivec4 p = row_major_position(at, x_shape);
  vec4 texel = load_x(ivec4(p.xy, p.z >> 2, p.w));
  return texel[p.z & 3];
}
#endif
