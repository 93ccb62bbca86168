// y = x * scale[c] + bias[c] of channels4 tensors, then an activation: batch normalisation with known
// statistics. OF_IMAGES: each image has its own scale and bias (norm_factors.comp).
#version 450
#extension GL_GOOGLE_include_directive : require

#include "scale_bias.h"
#define x_shape y_shape
#include "tensor.glsl"
#include "texel.glsl"
#include "activation.glsl"

TENSOR_IN(x)
TEXELS_IN(scale_bias)  // row 0: scale of each slice, row 1: bias
TENSOR_OUT(y)

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  int width = slices(y_shape.z);
#ifdef OF_IMAGES
  int row = 2 * p.w;
#else
  const int row = 0;
#endif
  store_y(p, activate(load_x(p) * load_scale_bias(p.z, row, width) + load_scale_bias(p.z, row + 1, width)));
}
