// Elements of a channels4 tensor by their number in row-major order.
#ifndef ROW_MAJOR_GLSL
#define ROW_MAJOR_GLSL
#include "divide.glsl"

// Returns the position (w, h, channel, n) of element `number` of a tensor of shape (W, H, C, N). With X_ROWS the tensor has
// one pixel in each image (a matrix).
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
#endif
