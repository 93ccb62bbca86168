// Channel i of y is channel channels[i] of x; with TWO, of x followed by x2.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "pick_channels.h"
#include "tensor.glsl"
#include "texel.glsl"

TENSOR_IN(x)
LINEAR_IN(channels)
TENSOR_OUT(y)
#ifdef TWO
TENSOR_IN(x2)
#endif

float component(vec4 texel, int c) {
  vec2 pair = (c & 2) == 0 ? texel.xy : texel.zw;
  return (c & 1) == 0 ? pair.x : pair.y;
}

float from_x(ivec4 p, int c) { return component(load_x(ivec4(p.xy, c >> 2, p.w)), c); }

#ifdef TWO
// FROM_i: the source of channels i, i + 4, i + 8, ... of y: 1 is x, 2 is x2, 3 is both.
float channel(ivec4 p, int c, int from) {
  int first = x_extent.z;
  if (from == 1) return from_x(p, c);
  int second = max(c - first, 0);
  float b = component(load_x2(ivec4(p.xy, second >> 2, p.w)), second);
  // Loads both, which costs less than a branch. The unused one is loaded from a valid texel.
  if (from == 2) return b;
  float a = from_x(p, min(c, first - 1));
  return c < first ? a : b;
}
#else
#define FROM_0 1
#define FROM_1 1
#define FROM_2 1
#define FROM_3 1
float channel(ivec4 p, int c, int from) { return from_x(p, c); }
#endif

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  ivec4 c = load4_channels(p.z);
  store_y(p, vec4(channel(p, c.x, FROM_0), channel(p, c.y, FROM_1), channel(p, c.z, FROM_2), channel(p, c.w, FROM_3)));
}
