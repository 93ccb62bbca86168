// Reduces the partial sums of split-K: y = activation(sum of the partial sums + residual). The partial sums of the first
// dispatch are stored one after another, like images of a larger batch.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "sum_parts.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "texel.glsl"

TENSOR_IN(parts)
TENSOR_OUT(y)
#ifdef RESIDUAL
TENSOR_IN(residual)
#endif
#include "residual.glsl"

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  vec4 sum = vec4(0);
  for (int n = p.w; n < parts_shape.w; n += y_shape.w) sum += load_parts(ivec4(p.xyz, n));
  store_y(p, activate(with_residual(sum, p)));
}
