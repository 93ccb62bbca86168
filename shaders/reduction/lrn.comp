// Local response normalisation: y = x / pow(bias + alpha / size * sum of squares of `size` neighbouring channels, beta).
// https://onnx.ai/onnx/operators/onnx__LRN.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lrn.h"
#define x_shape y_shape
#include "tensor.glsl"
#include "texel.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  ivec4 lane = ivec4(0, 1, 2, 3), channel = 4 * p.z + lane;
  ivec4 first = channel - (size - 1) / 2, last = channel + size / 2;
  vec4 squares = vec4(0);
  for (int s = max(first.x, 0) / 4; s <= min(last.w / 4, slices(y_shape.z) - 1); ++s) {
    vec4 v = load_x(ivec4(p.xy, s, p.w));
    v *= v;
    for (int j = 0; j < 4; ++j) {
      ivec4 c = 4 * s + lane;
      squares[j] += dot(v, vec4(greaterThanEqual(c, ivec4(first[j]))) * vec4(lessThanEqual(c, ivec4(last[j]))));
    }
  }
  store_y(p, load_x(p) / pow(bias + alpha * squares, vec4(beta)));
}
