// Converts linear tensors of real numbers to 8-bit integers, or with DEQUANTIZE back: real = (integer - zero
// point) * scale. There are `period` scales and zero points; element i uses those at (i / inner) modulo `period`.
// ONE_SCALE: `period` is 1.
// https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html, onnx__DequantizeLinear.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "quantize.h"
#include "inf_nan.glsl"
#include "tensor.glsl"
#include "divide.glsl"

LINEAR_IN(x)
LINEAR_IN(scale)
LINEAR_OUT(y)
#ifdef ZERO_POINT
LINEAR_IN(zero)
#else
int load_zero(int i) { return 0; }
#endif

#ifdef DEQUANTIZE
vec4 convert(ivec4 v, vec4 scale, ivec4 zero) { return vec4(v - zero) * scale; }
#else
ivec4 convert(vec4 v, vec4 scale, ivec4 zero) {
  vec4 q = roundEven(exact_halves(v, scale));
  // The first clamp keeps the conversion to int defined.
  ivec4 integers = clamp(ivec4(clamp(q, vec4(-65536), vec4(65536))) + zero, ivec4(low), ivec4(high));
  return mix(integers, zero, is_nan(q));
}
#endif

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
#ifdef ONE_SCALE
  vec4 scale = vec4(load_scale(0));
  ivec4 zero = ivec4(load_zero(0));
#else
  vec4 scale;
  ivec4 zero;
  for (int j = 0; j < 4; ++j) {
    int i = min(4 * i4 + j, count - 1), k = divide(divide(i, inner).x, period).y;
    scale[j] = load_scale(k);
    zero[j] = load_zero(k);
  }
#endif
  store_y(i4, convert(load4_x(i4), scale, zero));
}
