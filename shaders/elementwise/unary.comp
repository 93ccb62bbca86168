// A function of one tensor, element by element: FUNCTION names one of unary.glsl, or ACTIVATION one of activation.glsl.
// With LINEAR_LAYOUT both tensors are linear. With X_LINEAR only x is.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#ifdef LINEAR_LAYOUT
#include "unary_linear.h"
#else
#include "unary.h"
#define x_shape y_shape
#endif

#include "tensor.glsl"
#include "texel.glsl"

#ifdef ACTIVATION
#include "activation.glsl"
#define FUNCTION activate
#else
#include "unary.glsl"
#endif

#ifdef LINEAR_LAYOUT

LINEAR_IN(x)
LINEAR_OUT(y)

void main() {
  int i4 = flat_index();
  if (i4 < count4) store_y(i4, FUNCTION(load4_x(i4)));
}

#else

#ifdef X_LINEAR
LINEAR_IN(x)
vec4 texel_of_x(ivec4 p) {
  int plane = y_shape.x * y_shape.y, first = (p.w * y_shape.z + 4 * p.z) * plane + p.y * y_shape.x + p.x;
  vec4 v = vec4(0);
  for (int j = 0; j < 4; ++j)
    if (4 * p.z + j < y_shape.z) v[j] = load_x(first + j * plane);
  return v;
}
#else
TENSOR_IN(x)
vec4 texel_of_x(ivec4 p) { return load_x(p); }
#endif
TENSOR_OUT(y)

void main() {
  ivec4 p;
  if (output_texel(y_shape, p)) store_y(p, FUNCTION(texel_of_x(p)));
}

#endif
