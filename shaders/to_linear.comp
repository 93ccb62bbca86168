// channels4 -> linear: one invocation gathers four consecutive elements of the row-major order.
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Params {
  ivec4 x_shape;
};

#include "tensor.glsl"

TENSOR_IN(0, x)
LINEAR_OUT(1, y)

void main() {
  int i4 = flat_index();
  int W = x_shape.x, H = x_shape.y, C = x_shape.z, N = x_shape.w;
  int total = W * H * C * N;
  if (4 * i4 >= total) return;
  vec4 v = vec4(0);
  for (int j = 0; j < 4; ++j) {
    int i = min(4 * i4 + j, total - 1);
    int w = i % W, rest = i / W;
    int h = rest % H;
    rest /= H;
    int c = rest % C, n = rest / C;
    vec4 texel = load_x(ivec4(w, h, c >> 2, n));
    v[j] = texel[c & 3];
  }
  store_y(i4, v);
}
