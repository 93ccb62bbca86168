// Pooling over windows of volumes: MAX, AVERAGE or LP (the norm of order p). An invocation computes four
// elements. LP may be computed along one axis after the other, in two steps: TO_POWERS sums the powers of
// elements, OF_POWERS sums these and takes the root.
// https://onnx.ai/onnx/operators/onnx__MaxPool.html, onnx__AveragePool.html, onnx__LpPool.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "pool_volume.h"
#include "inf_nan.glsl"
#include "tensor.glsl"
#include "divide.glsl"
#ifdef AVERAGE
#include "activation.glsl"
#endif

LINEAR_IN(x)
LINEAR_OUT(y)

#define TRIPLE(values) ivec3(values[0], values[1], values[2])

// Returns the index of the first tap at or after `bound`; taps are at first, first + dilation, ...
ivec3 taps_before(ivec3 bound, ivec3 first) {
  return clamp((bound - first + TRIPLE(dilation) - 1) / TRIPLE(dilation), ivec3(0), TRIPLE(kernel));
}

float pooled(int i) {
  ivec2 row = divide(i, y_size[2]), plane = divide(row.x, y_size[1]), volume = divide(plane.x, y_size[0]);
  ivec3 size = TRIPLE(x_size);
  ivec3 first = ivec3(volume.y, plane.y, row.y) * TRIPLE(stride) - TRIPLE(pad_begin);
  ivec3 begin = taps_before(max(first, ivec3(0)), first), end = taps_before(max(first, size), first);
#ifdef MAX
  float v = uintBitsToFloat(0xff800000u);  // -infinity
#else
  float v = 0.0;
#endif
  for (int kz = begin.x; kz < end.x; ++kz) {
    for (int ky = begin.y; ky < end.y; ++ky) {
      for (int kx = begin.z; kx < end.z; ++kx) {
        ivec3 p = first + ivec3(kz, ky, kx) * TRIPLE(dilation);
        float tap = load_x(((volume.x * size.x + p.x) * size.y + p.y) * size.z + p.z);
#ifdef MAX
        v = tap > v || is_nan(tap) ? tap : v;  // a NaN is kept
#elif defined(LP) && !defined(OF_POWERS)
        v += pow(abs(tap), p_norm);
#else
        v += tap;
#endif
      }
    }
  }
#if defined(LP) && !defined(TO_POWERS)
  v = pow(v, 1.0 / p_norm);
#endif
#ifdef AVERAGE
  // Padding counts up to pad_end: a window that ceil_mode extends further has fewer taps.
  ivec3 taps = count_include_pad != 0 ? taps_before(max(first, size + TRIPLE(pad_end)), first) : end - begin;
  v = mean_of(v, float(max(taps.x * taps.y * taps.z, 1)));
#endif
  return v;
}

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  vec4 v;
  for (int j = 0; j < 4; ++j) v[j] = pooled(min(4 * i4 + j, count - 1));
#ifdef AVERAGE
  v = activate(v);
#endif
  store_y(i4, v);
}
