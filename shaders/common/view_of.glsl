// VIEW_OF(x) declares tensor x, and functions that read elements of a strided view of it by their positions in x in row-major
// order (runtime/kernels/movement/strided_reads.hpp):
//   float load_element_x(int at)
//   vec4 load_quad_x(int at)  four channels of a pixel, the first of which is a multiple of four; where x is linear, four
//                             contiguous elements from a multiple of four on
//
// X_LINEAR: x is linear; otherwise it is channels4. X_ROWS: x has one pixel in each image (a matrix).
#include "divide.glsl"

#ifdef X_LINEAR
#define VIEW_OF(x)                                                   \
  LINEAR_IN(x)                                                       \
  float CAT(load_element_, x)(int at) { return CAT(load_, x)(at); }  \
  vec4 CAT(load_quad_, x)(int at) { return CAT(load4_, x)(at >> 2); }
#else
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

#define VIEW_OF(x)                                                   \
  TENSOR_IN(x)                                                       \
  vec4 CAT(load_quad_, x)(int at) {                                  \
    ivec4 p = row_major_position(at, CAT(x, _shape));                \
    return CAT(load_, x)(ivec4(p.xy, p.z >> 2, p.w));                \
  }                                                                  \
  float CAT(load_element_, x)(int at) {                              \
    ivec4 p = row_major_position(at, CAT(x, _shape));                \
    vec4 texel = CAT(load_, x)(ivec4(p.xy, p.z >> 2, p.w));          \
    return texel[p.z & 3];                                           \
  }
#endif
