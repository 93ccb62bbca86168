// Converts a linear tensor to channels4. An invocation computes one texel.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#include "to_channels4.h"
#include "tensor.glsl"
#include "divide.glsl"

LINEAR_IN(x)
TENSOR_OUT(y)

void main() {
  int W = y_shape.x, H = y_shape.y, C = y_shape.z, N = y_shape.w;
  ivec2 by_column = divide(flat_index(), W);
  ivec2 by_row = divide(by_column.x, H);
  ivec2 by_slice = divide(by_row.x, slices(C));
  ivec4 p = ivec4(by_column.y, by_row.y, by_slice.y, by_slice.x);
  if (p.w >= N) return;
  int plane = W * H;
  int first = (p.w * C + 4 * p.z) * plane + p.y * W + p.x;
  vec4 v = vec4(0);
  for (int j = 0; j < 4; ++j)
    if (4 * p.z + j < C) v[j] = load_x(first + j * plane);
  store_y(p, v);
}
