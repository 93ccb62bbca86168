// Pooling over windows of a channels4 tensor: MAX, AVERAGE or LP (the norm of order p). LP may be computed along
// one axis after the other, in two steps: TO_POWERS sums the powers of elements, OF_POWERS sums these and takes
// the root. With FIXED_AVERAGE elements are quantised integers with the zero point `fixed_zero` (FixedAverage in
// graph/operators/reduction/pool.hpp).
// https://onnx.ai/onnx/operators/onnx__MaxPool.html, onnx__AveragePool.html, onnx__LpPool.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "pool.h"
#include "inf_nan.glsl"
#include "tensor.glsl"
#include "texel.glsl"
#ifdef AVERAGE
#include "activation.glsl"
#endif

TENSOR_IN(x)
TENSOR_OUT(y)
#include "epilogue.glsl"

// Returns the index of the first tap at or after `bound`; taps are at first, first + dilation, ...
ivec2 taps_before(ivec2 bound, ivec2 first) {
  return clamp((bound - first + dilation - 1) / dilation, ivec2(0), kernel);
}

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  ivec2 first = p.xy * stride - pad_begin;
  ivec2 begin = taps_before(max(first, ivec2(0)), first);
  ivec2 end = taps_before(max(first, x_shape.xy), first);
#ifdef MAX
  vec4 v = vec4(uintBitsToFloat(0xff800000u));  // -infinity
#else
  vec4 v = vec4(0);
#endif
  for (int ky = begin.y; ky < end.y; ++ky) {
    for (int kx = begin.x; kx < end.x; ++kx) {
      vec4 tap = load_x(ivec4(first + ivec2(kx, ky) * dilation, p.zw));
#ifdef MAX
      v = mix(mix(v, tap, greaterThan(tap, v)), tap, is_nan(tap));  // a NaN is kept
#elif defined(LP) && !defined(OF_POWERS)
      v += pow(abs(tap), vec4(p_norm));
#elif defined(FIXED_AVERAGE)
      v += roundEven(tap / activation_constants.w);
#else
      v += tap;
#endif
    }
  }
#if defined(LP) && !defined(TO_POWERS)
  v = pow(v, vec4(1.0 / p_norm));
#endif
#ifdef AVERAGE
  // Padding counts up to pad_end: a window that ceil_mode extends further has fewer taps.
  ivec2 taps = count_include_pad != 0 ? taps_before(max(first, x_shape.xy + pad_end), first) : end - begin;
#ifdef FIXED_AVERAGE
  int count = max(taps.x * taps.y, 1);
  ivec4 stored = ivec4(v) + count * fixed_zero;
  v = activate(vec4(sign(stored) * ((abs(stored) + count / 2) / count) - fixed_zero) * activation_constants.w);
#else
  v = activate(mean_of(v, float(max(taps.x * taps.y, 1))));
#endif
#endif
  store_result(p, v);
}
