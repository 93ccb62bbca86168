// Transpose where x, y or both are channels4 (linear ones: X_LINEAR, Y_LINEAR). Positions are (w, h, c, n); those
// dimensions that a tensor of lower rank lacks are 1.
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Params {
  ivec4 x_shape;
  ivec4 y_shape;
  ivec4 source;  // coordinate k of x is coordinate source[k] of y
};

#include "tensor.glsl"
#include "texel.glsl"

#ifdef X_LINEAR
LINEAR_IN(0, x)
#else
TENSOR_IN(0, x)
#endif

ivec4 source_position(int w, int h, int c, int n) {
  int p[4] = int[4](w, h, c, n);
  return ivec4(p[source.x], p[source.y], p[source.z], p[source.w]);
}

float load_element(int w, int h, int c, int n) {
  ivec4 q = source_position(w, h, c, n);
#ifdef X_LINEAR
  return load_x(((q.w * x_shape.z + q.z) * x_shape.y + q.y) * x_shape.x + q.x);
#else
  vec4 texel = load_x(ivec4(q.xy, q.z >> 2, q.w));
  return texel[q.z & 3];
#endif
}

#ifdef Y_LINEAR
LINEAR_OUT(1, y)

void main() {
  int i4 = flat_index();
  int total = y_shape.x * y_shape.y * y_shape.z * y_shape.w;
  if (4 * i4 >= total) return;
  vec4 v;
  for (int j = 0; j < 4; ++j) {
    int i = min(4 * i4 + j, total - 1);
    int w = i % y_shape.x;
    i /= y_shape.x;
    int h = i % y_shape.y;
    i /= y_shape.y;
    int c = i % y_shape.z, n = i / y_shape.z;
#ifndef X_LINEAR
    // Channels last: the four elements are one texel.
    if (source.z == 0 && (y_shape.x & 3) == 0) {
      ivec4 q = source_position(w, h, c, n);
      v = load_x(ivec4(q.xy, q.z >> 2, q.w));
      break;
    }
#endif
    v[j] = load_element(w, h, c, n);
  }
  store_y(i4, v);
}

#else
TENSOR_OUT(1, y)

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  vec4 v = vec4(0);
#ifndef X_LINEAR
  // Channels stay channels: the texel only moves.
  if (source.z == 2) {
    store_y(p, load_x(source_position(p.x, p.y, p.z, p.w)));
    return;
  }
#endif
  for (int j = 0; j < 4; ++j) {
    int c = 4 * p.z + j;
    if (c < y_shape.z) v[j] = load_element(p.x, p.y, c, p.w);
  }
  store_y(p, v);
}

#endif
