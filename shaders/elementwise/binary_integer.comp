// FUNCTION (integer.glsl) of two linear tensors with numpy's broadcasting. The result is of integers; A_VECTOR and B_VECTOR
// are the types of four elements of the operands, floats by default.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "binary_integer.h"
#include "tensor.glsl"
#include "divide.glsl"
#include "integer.glsl"

#ifndef A_VECTOR
#define A_VECTOR vec4
#endif
#ifndef B_VECTOR
#define B_VECTOR vec4
#endif

LINEAR_IN(a)
LINEAR_IN(b)
LINEAR_OUT(y)

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  A_VECTOR a;
  B_VECTOR b;
  for (int j = 0; j < 4; ++j) {
    int rest = min(4 * i4 + j, count - 1), ia = 0, ib = 0;
    for (int d = rank - 1; d > 0; --d) {
      ivec2 split = divide(rest, dims[d]);
      ia += split.y * a_strides[d];
      ib += split.y * b_strides[d];
      rest = split.x;
    }
    a[j] = load_a(ia + rest * a_strides[0]);
    b[j] = load_b(ib + rest * b_strides[0]);
  }
  store_y(i4, wrap(FUNCTION(a, b), spare_bits));
}
