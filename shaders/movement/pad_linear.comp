// Pad of linear tensors: element (c0, c1, ...) of y is element (c0 - begin0, ...) of x, continued as `mode` says.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "pad_linear.h"
#include "tensor.glsl"
#include "element.glsl"
#include "divide.glsl"
#include "pad.glsl"

LINEAR_IN(x)
LINEAR_OUT(y)

SCALAR element(int i) {
  int at = 0, stride = 1;
  bool inside = true;
  for (int d = rank - 1; d >= 0; --d) {
    ivec2 split = divide(i, y_dims[d]);
    int c = split.y - begin[d];
    if (mode != PAD_CONSTANT)
      c = pad_source(c, x_dims[d], mode);
    else
      inside = inside && c >= 0 && c < x_dims[d];
    at += c * stride;
    stride *= x_dims[d];
    i = split.x;
  }
#ifdef INTEGER
  return inside ? load_x(at) : integer_fill;
#else
  return inside ? load_x(at) : fill;
#endif
}

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  VECTOR v;
  for (int j = 0; j < 4; ++j) v[j] = element(min(4 * i4 + j, count - 1));
  store_y(i4, v);
}
