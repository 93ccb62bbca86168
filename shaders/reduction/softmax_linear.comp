// Softmax (with LOG its logarithm) of a linear tensor from the statistics of its rows (softmax_statistics.comp).
#version 450
#extension GL_GOOGLE_include_directive : require

#include "softmax_linear.h"
#include "tensor.glsl"

LINEAR_IN(x)
LINEAR_IN(statistics)
LINEAR_OUT(y)

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  vec4 v = load4_x(i4);
  for (int j = 0; j < 4; ++j) {
    int i = min(4 * i4 + j, count - 1);
    int outer = i / (length * inner);
    vec4 s = load4_statistics(outer * inner + i % inner);
#ifdef LOG
    v[j] = v[j] - s.x - log(s.y);
#else
    v[j] = exp(v[j] - s.x) / s.y;
#endif
  }
  store_y(i4, v);
}
