// Converts a channels4 tensor to linear. An invocation gathers four elements that are consecutive in row-major order.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#include "to_linear.h"
#include "tensor.glsl"
#include "divide.glsl"

TENSOR_IN(x)
LINEAR_OUT(y)

void main() {
  int i4 = flat_index();
  int W = x_shape.x, H = x_shape.y, C = x_shape.z, N = x_shape.w;
  if (4 * i4 >= W * H * C * N) return;
  ivec2 by_column = divide(4 * i4, W);
  ivec2 by_row = divide(by_column.x, H);
  ivec2 by_channel = divide(by_row.x, C);
  int w = by_column.y, h = by_row.y, c = by_channel.y, n = by_channel.x;
  vec4 v = vec4(0);
  for (int j = 0; j < 4 && n < N; ++j) {
    vec4 texel = load_x(ivec4(w, h, c >> 2, n));
    v[j] = texel[c & 3];
    // Advances to the next element in row-major order.
    if (++w == W) {
      w = 0;
      if (++h == H) {
        h = 0;
        if (++c == C) {
          c = 0;
          ++n;
        }
      }
    }
  }
  store_y(i4, v);
}
