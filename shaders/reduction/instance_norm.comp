// Instance normalisation of a channels4 tensor. An invocation, or several (cooperate.glsl), normalises the plane of one
// slice of one image.
// https://onnx.ai/onnx/operators/onnx__InstanceNormalization.html
#version 450
#extension GL_GOOGLE_include_directive : require
#include "subgroup_arithmetic.glsl"

#include "instance_norm.h"
#define x_shape y_shape
#include "tensor.glsl"
#include "divide.glsl"
#include "cooperate.glsl"

TENSOR_IN(x)
TEXELS_IN(scale_bias)  // row 0: scale of each slice, row 1: bias
TENSOR_OUT(y)

void main() {
  int index = result_index();
  ivec2 by_slice = divide(index, slices(y_shape.z));
  int n = by_slice.x, s = by_slice.y;
  if (n >= y_shape.w) return;
  int W = y_shape.x, plane = W * y_shape.y;
  vec4 sum = vec4(0);
  for (int k = FIRST_LANE; k < plane; k += LANES) sum += load_x(ivec4(k % W, k / W, s, n));
  vec4 mean = gather_sum(sum) / float(plane);
  // A second pass for the variance: the mean of squares less the square of the mean would cancel.
  vec4 squares = vec4(0);
  for (int k = FIRST_LANE; k < plane; k += LANES) {
    vec4 d = load_x(ivec4(k % W, k / W, s, n)) - mean;
    squares += d * d;
  }
  int width = slices(y_shape.z);
  vec4 scale = load_scale_bias(s, 0, width) / sqrt(gather_sum(squares) / float(plane) + epsilon);
  vec4 bias = load_scale_bias(s, 1, width) - mean * scale;
  for (int k = FIRST_LANE; k < plane; k += LANES) {
    ivec4 p = ivec4(k % W, k / W, s, n);
    store_y(p, load_x(p) * scale + bias);
  }
}
