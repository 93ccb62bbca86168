// DepthToSpace, or with SPACE_TO_DEPTH its inverse. https://onnx.ai/onnx/operators/onnx__DepthToSpace.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "depth_to_space.h"
#include "tensor.glsl"
#include "texel.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

// Returns the position (w, h, c) in x of channel c of y at (w, h).
ivec3 source(int w, int h, int c) {
#ifdef SPACE_TO_DEPTH
  int part = columns_first != 0 ? c % (block * block) : c / x_shape.z;
  int from = columns_first != 0 ? c / (block * block) : c - part * x_shape.z;
  return ivec3(w * block + part % block, h * block + part / block, from);
#else
  int part = h % block * block + w % block;
  return ivec3(w / block, h / block, columns_first != 0 ? c * block * block + part : part * y_shape.z + c);
#endif
}

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  vec4 v = vec4(0);
  for (int j = 0; j < 4; ++j) {
    int c = 4 * p.z + j;
    if (c >= y_shape.z) break;
    ivec3 q = source(p.x, p.y, c);
    vec4 texel = load_x(ivec4(q.xy, q.z >> 2, p.w));
    v[j] = texel[q.z & 3];
  }
  store_y(p, v);
}
