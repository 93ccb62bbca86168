// Instance normalisation of a channels4 tensor, then an activation. An invocation, or several (cooperate.glsl), normalises
// the plane of one slice of one image. GROUPED: group normalisation; it normalises the planes of a group of whole slices.
// https://onnx.ai/onnx/operators/onnx__InstanceNormalization.html
// https://onnx.ai/onnx/operators/onnx__GroupNormalization.html
#version 450
#extension GL_GOOGLE_include_directive : require
#include "subgroup_arithmetic.glsl"

#include "instance_norm.h"
#define x_shape y_shape
#include "tensor.glsl"
#include "divide.glsl"
#include "activation.glsl"
#include "cooperate.glsl"

TENSOR_IN(x)
TEXELS_IN(scale_bias)  // row 0: scale of each slice, row 1: bias
TENSOR_OUT(y)

// Texel k of the planes that begin with slice s of image n.
ivec4 texel(int k, int s, int n) {
  int W = y_shape.x;
#ifdef GROUPED
  int plane = W * y_shape.y, slice = k / plane;
  k -= slice * plane;
  s += slice;
#endif
  return ivec4(k % W, k / W, s, n);
}

// The sums of all invocations; GROUPED: of all channels, too.
vec4 total(vec4 sums) {
  sums = gather_sum(sums);
#ifdef GROUPED
  sums = vec4(sums.x + sums.y + sums.z + sums.w);
#endif
  return sums;
}

void main() {
  int index = result_index(), width = slices(y_shape.z);
#ifdef GROUPED
  const int count = group_slices, elements = 4 * count;
#else
  const int count = 1, elements = 1;
#endif
  ivec2 by_slice = divide(index, width / count);
  int n = by_slice.x, s = by_slice.y * count;
  if (n >= y_shape.w) return;
  int plane = y_shape.x * y_shape.y, texels = plane * count;
  vec4 sum = vec4(0);
  for (int k = FIRST_LANE; k < texels; k += LANES) sum += load_x(texel(k, s, n));
  vec4 mean = total(sum) / float(plane * elements);
  // A second pass for the variance: the mean of squares less the square of the mean would cancel.
  vec4 squares = vec4(0);
  for (int k = FIRST_LANE; k < texels; k += LANES) {
    vec4 d = load_x(texel(k, s, n)) - mean;
    squares += d * d;
  }
  vec4 inverse = 1.0 / sqrt(total(squares) / float(plane * elements) + epsilon);
#ifdef GROUPED
  for (int k = FIRST_LANE; k < texels; k += LANES) {
    ivec4 p = texel(k, s, n);
    vec4 scale = load_scale_bias(p.z, 0, width) * inverse;
    store_y(p, activate((load_x(p) - mean) * scale + load_scale_bias(p.z, 1, width)));
  }
#else
  vec4 scale = load_scale_bias(s, 0, width) * inverse;
  vec4 bias = load_scale_bias(s, 1, width) - mean * scale;
  for (int k = FIRST_LANE; k < texels; k += LANES) {
    ivec4 p = texel(k, s, n);
    store_y(p, activate(load_x(p) * scale + bias));
  }
#endif
}
