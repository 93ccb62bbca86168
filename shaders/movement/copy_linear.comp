// Copies a linear tensor to a linear one, possibly of another precision. An invocation copies four elements.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#include "copy_linear.h"
#include "tensor.glsl"

LINEAR_IN(x)
LINEAR_OUT(y)

void main() {
  int i4 = flat_index();
  if (i4 < count4) store_y(i4, load4_x(i4));
}
