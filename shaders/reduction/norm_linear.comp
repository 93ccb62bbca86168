// y = (x - mean) / deviation * scale + bias of linear tensors, then an activation, from the statistics of the rows
// (norm_statistics.comp). `factors` holds `period` scales, then `period` biases; element i uses number (i /
// inner) modulo period.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "norm_linear.h"
#include "tensor.glsl"
#include "activation.glsl"

LINEAR_IN(x)
LINEAR_IN(statistics)
LINEAR_IN(factors)
LINEAR_OUT(y)

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  vec4 v = load4_x(i4);
  for (int j = 0; j < 4; ++j) {
    int i = min(4 * i4 + j, count - 1);
    vec4 s = load4_statistics(i / length);
    int k = i / inner % period;
    v[j] = (v[j] - s.x) * s.y * load_factors(k) + load_factors(period + k);
  }
  store_y(i4, activate(v));
}
