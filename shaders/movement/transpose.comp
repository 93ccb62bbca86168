// Transpose where x, y or both are channels4 (X_LINEAR: x is linear; Y_LINEAR: y is linear). Positions are (w,
// h, c, n); a tensor of lower rank has sizes of 1 for the missing dimensions.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#include "transpose.h"
#include "tensor.glsl"
#include "texel.glsl"

#ifdef X_LINEAR
LINEAR_IN(x)
#else
TENSOR_IN(x)
#endif

#ifdef X_LINEAR
int source_offset(int w, int h, int c, int n) {
  return w * x_strides.x + h * x_strides.y + c * x_strides.z + n * x_strides.w;
}
#else
ivec4 source_position(int w, int h, int c, int n) {
  ivec4 p = ivec4(w, h, c, n);
  return ivec4(p[source.x], p[source.y], p[source.z], p[source.w]);
}

float load_element(int w, int h, int c, int n) {
  ivec4 q = source_position(w, h, c, n);
  vec4 texel = load_x(ivec4(q.xy, q.z >> 2, q.w));
  return texel[q.z & 3];
}
#endif

#ifdef Y_LINEAR  // then x is not
LINEAR_OUT(y)

void main() {
  int i4 = flat_index();
  int total = y_shape.x * y_shape.y * y_shape.z * y_shape.w;
  if (4 * i4 >= total) return;
  int i = 4 * i4;
  int w = i % y_shape.x;
  i /= y_shape.x;
  int h = i % y_shape.y;
  i /= y_shape.y;
  int c = i % y_shape.z, n = i / y_shape.z;
  vec4 v;
  if (source.z == 0 && (y_shape.x & 3) == 0) {  // channels last: the four elements are one texel
    ivec4 q = source_position(w, h, c, n);
    v = load_x(ivec4(q.xy, q.z >> 2, q.w));
  } else {
    for (int j = 0; j < 4; ++j) {
      if (4 * i4 + j < total) v[j] = load_element(w, h, c, n);
      if (++w == y_shape.x) {
        w = 0;
        if (++h == y_shape.y) {
          h = 0;
          if (++c == y_shape.z) {
            c = 0;
            ++n;
          }
        }
      }
    }
  }
  store_y(i4, v);
}

#else
TENSOR_OUT(y)

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  vec4 v = vec4(0);
#ifdef X_LINEAR
  int at = source_offset(p.x, p.y, 4 * p.z, p.w);
  if (x_strides.z == 1 && (y_shape.z & 3) == 0) {  // channels last in x: the texel's four elements are contiguous
    v = load4_x(at >> 2);
  } else {
    for (int j = 0; j < 4; ++j)
      if (4 * p.z + j < y_shape.z) v[j] = load_x(at + j * x_strides.z);
  }
#else
  if (source.z == 2) {  // channels are not permuted: the texel only moves
    v = load_x(source_position(p.x, p.y, p.z, p.w));
  } else {
    for (int j = 0; j < 4; ++j)
      if (4 * p.z + j < y_shape.z) v[j] = load_element(p.x, p.y, 4 * p.z + j, p.w);
  }
#endif
  store_y(p, v);
}

#endif
