// linear -> channels4: one invocation makes one texel.
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Params {
  ivec4 y_shape;
};

#include "tensor.glsl"

LINEAR_IN(0, x)
TENSOR_OUT(1, y)

void main() {
  ivec3 id = ivec3(gl_GlobalInvocationID);
  int W = y_shape.x, H = y_shape.y, C = y_shape.z, N = y_shape.w, S = slices(C);
  if (id.x >= W || id.y >= H || id.z >= S * N) return;
  int slice = id.z % S, n = id.z / S;
  int plane = W * H;
  int first = (n * C + 4 * slice) * plane + id.y * W + id.x;
  vec4 v = vec4(0);
  for (int j = 0; j < 4; ++j)
    if (4 * slice + j < C) v[j] = load_x(first + j * plane);
  store_y(ivec4(id.xy, slice, n), v);
}
