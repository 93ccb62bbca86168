// Scale and bias of each plane of a normalised channels4 tensor, from its mean and variance and the scale and bias of its
// channel. An invocation computes those of one slice of one image.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "norm_factors.h"
#define mean_shape x_shape
#define variance_shape x_shape
#include "tensor.glsl"
#include "divide.glsl"

TENSOR_IN(mean)
TENSOR_IN(variance)
TEXELS_IN(scale_bias)  // row 0: scale of each slice, row 1: bias
TENSOR_OUT(factors)    // row 2 n: scale of each slice of image n, row 2 n + 1: bias

void main() {
  int width = slices(x_shape.z);
  ivec2 by_slice = divide(flat_index(), width);
  int n = by_slice.x, s = by_slice.y;
  if (n >= x_shape.w) return;
  ivec4 p = ivec4(0, 0, s, n);
  vec4 scale = load_scale_bias(s, 0, width) / sqrt(load_variance(p) + epsilon);
  store_factors(ivec4(s, 2 * n, 0, 0), scale);
  store_factors(ivec4(s, 2 * n + 1, 0, 0), load_scale_bias(s, 1, width) - load_mean(p) * scale);
}
