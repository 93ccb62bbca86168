// y = condition ? a : b of linear tensors with numpy's broadcasting.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 2

#include "where.h"
#include "tensor.glsl"
#include "element.glsl"
#include "divide.glsl"

LINEAR_IN(condition)
LINEAR_IN(a)
LINEAR_IN(b)
LINEAR_OUT(y)

SCALAR element(int i) {
  int ic = 0, ia = 0, ib = 0;
  for (int d = rank - 1; d >= 0; --d) {
    ivec2 split = divide(i, dims[d]);
    ic += split.y * condition_strides[d];
    ia += split.y * a_strides[d];
    ib += split.y * b_strides[d];
    i = split.x;
  }
  return load_condition(ic) != 0 ? load_a(ia) : load_b(ib);
}

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  VECTOR v;
  for (int j = 0; j < 4; ++j) v[j] = element(min(4 * i4 + j, count - 1));
  store_y(i4, v);
}
