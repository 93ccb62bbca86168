// FUNCTION (integer.glsl) of one linear tensor; the result is of integers.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "unary_integer.h"
#include "tensor.glsl"
#include "integer.glsl"

LINEAR_IN(x)
LINEAR_OUT(y)

void main() {
  int i4 = flat_index();
  if (i4 < count4) store_y(i4, wrap(FUNCTION(load4_x(i4)), spare_bits));
}
