// Means over windows whose bounds follow from the sizes of x and y (AdaptiveAveragePool in
// graph/operators/reduction/adaptive_pool.hpp).
#version 450
#extension GL_GOOGLE_include_directive : require

#include "adaptive_pool.h"
#include "tensor.glsl"
#include "divide.glsl"
#include "texel.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  ivec2 begin = p.xy * x_shape.xy / y_shape.xy;
  ivec2 end = ((p.xy + 1) * x_shape.xy + y_shape.xy - 1) / y_shape.xy;
  vec4 sum = vec4(0);
  for (int h = begin.y; h < end.y; ++h)
    for (int w = begin.x; w < end.x; ++w) sum += load_x(ivec4(w, h, p.zw));
  ivec2 size = end - begin;
  store_y(p, mean_of(sum, float(size.x * size.y)));
}
