// Converts linear tensors of real numbers to 8-bit integers, or with DEQUANTIZE back: real = (integer - zero
// point) * scale. Element i uses scale and zero point (i / inner) modulo `period`, their number.
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

int parameter(int i) { return period == 1 ? 0 : divide(divide(i, inner).x, period).y; }

#ifdef DEQUANTIZE
#define VECTOR vec4
float convert(int v, int k) { return float(v - load_zero(k)) * load_scale(k); }
#else
#define VECTOR ivec4
int convert(float v, int k) {
  int zero = load_zero(k);
  float q = roundEven(exact_halves(v, load_scale(k)));
  if (is_nan(q)) return zero;
  // The first clamp keeps the conversion to int defined.
  return clamp(int(clamp(q, -65536.0, 65536.0)) + zero, low, high);
}
#endif

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  VECTOR v;
  for (int j = 0; j < 4; ++j) {
    int i = min(4 * i4 + j, count - 1);
    v[j] = convert(load_x(i), parameter(i));
  }
  store_y(i4, v);
}
