// Copies 32-bit words from a strided array to a dense one, or with SCATTER from a dense to a strided one. Used for
// buffers of the application whose rows have padding, or whose elements are in another order.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "strided_words.h"
#include "tensor.glsl"
#include "divide.glsl"

LINEAR_IN(x)
SCALARS_OUT(y)

int strided(int i) {
  int at = 0;
  for (int d = rank - 1; d > 0; --d) {
    ivec2 split = divide(i, dims[d]);
    at += split.y * strides[d];
    i = split.x;
  }
  return at + i * strides[0];
}

void main() {
  int i = flat_index();
  if (i >= count) return;
#ifdef SCATTER
  set_y(strided(i), load_x(i));
#else
  set_y(i, load_x(strided(i)));
#endif
}
