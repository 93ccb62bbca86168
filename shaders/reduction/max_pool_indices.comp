// Positions of the maxima of MaxPool in the flattened input; with WINDOW the index of the tap within the window, plus 0.1
// (runtime/graph/operators/reduction/pool.hpp). An invocation computes four of them.
// https://onnx.ai/onnx/operators/onnx__MaxPool.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "divide.glsl"
#include "inf_nan.glsl"
#include "max_pool_indices.h"
#include "tensor.glsl"

LINEAR_IN(x)
LINEAR_OUT(indices)

int index_of_maximum(int i) {
  ivec2 row = divide(i, y_size.x), plane = divide(row.x, y_size.y);
  int base = plane.x * x_size.x * x_size.y;
  ivec2 first = ivec2(row.y, plane.y) * stride - pad_begin;
  int found = -1;
  ivec2 at = ivec2(0), tap = ivec2(0);
  float best = 0.0;
  for (int ky = 0; ky < kernel.y; ++ky) {
    for (int kx = 0; kx < kernel.x; ++kx) {
      ivec2 p = first + ivec2(kx, ky) * dilation;
      if (any(lessThan(p, ivec2(0))) || any(greaterThanEqual(p, x_size))) continue;
      float v = load_x(base + p.y * x_size.x + p.x);
      if (found >= 0 && !(v > best) && !is_nan(v)) continue;
      found = 0;
      best = v;
      at = p;
      tap = ivec2(kx, ky);
    }
  }
#ifdef WINDOW
  return tap.y * kernel.x + tap.x;
#endif
  if (found < 0) return 0;
  return base + (column_major != 0 ? at.x * x_size.y + at.y : at.y * x_size.x + at.x);
}

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  ivec4 v;
  for (int j = 0; j < 4; ++j) v[j] = index_of_maximum(min(4 * i4 + j, count - 1));
#ifdef WINDOW
  store_indices(i4, vec4(v) + 0.1);
#else
  store_indices(i4, v);
#endif
}
