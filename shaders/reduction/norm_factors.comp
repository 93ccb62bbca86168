// Computes the scale and bias that normalise each plane of a channels4 tensor, from the plane's mean and variance and from the
// scale and bias of its channel. An invocation computes one slice of one image; scale_bias.comp applies the result. GROUPED:
// the mean and variance are those of the planes of a group of channels, combined as in Chan, Golub, LeVeque, Algorithms for
// computing the sample variance, 1983.
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

#ifdef GROUPED
// Mean and variance of the group of channel c of image n.
vec2 group_moments(int c, int n) {
  int first = c / group * group;
  float mean = 0.0, variance = 0.0;
  for (int k = first; k < first + group; ++k) mean += load_mean(ivec4(0, 0, k / 4, n))[k % 4];
  mean /= float(group);
  for (int k = first; k < first + group; ++k) {
    ivec4 p = ivec4(0, 0, k / 4, n);
    float d = load_mean(p)[k % 4] - mean;
    variance += load_variance(p)[k % 4] + d * d;
  }
  return vec2(mean, variance / float(group));
}
#endif

void main() {
  int width = slices(x_shape.z);
  ivec2 by_slice = divide(flat_index(), width);
  int n = by_slice.x, s = by_slice.y;
  if (n >= x_shape.w) return;
  ivec4 p = ivec4(0, 0, s, n);
#ifdef GROUPED
  vec4 mean, variance;
  for (int j = 0; j < 4; ++j) {
    vec2 moments = group_moments(min(4 * s + j, x_shape.z - 1), n);
    mean[j] = moments.x;
    variance[j] = moments.y;
  }
#else
  vec4 mean = load_mean(p), variance = load_variance(p);
#endif
  vec4 scale = load_scale_bias(s, 0, width) / sqrt(variance + epsilon);
  store_factors(ivec4(s, 2 * n, 0, 0), scale);
  store_factors(ivec4(s, 2 * n + 1, 0, 0), load_scale_bias(s, 1, width) - mean * scale);
}
