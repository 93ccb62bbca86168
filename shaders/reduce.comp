// Reduction of a channels4 tensor over any of W, H, C, N; y has those dimensions as 1.
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Params {
  ivec4 x_shape;
  ivec4 y_shape;
  ivec4 extent;  // texels (w, h, slices, n) that go into one of y; 1 along what stays
  float count;   // elements that go into one of y
};

#include "tensor.glsl"
#include "texel.glsl"
#include "cooperate.glsl"
#include "reduce.glsl"

TENSOR_IN(0, x)
TENSOR_OUT(1, y)

// Texel k of those that go into the one at `base`; with CHANNELS, unused channels become `neutral`.
vec4 load_part(ivec4 base, int k, float neutral) {
  ivec4 q = base;
  int rest = k / extent.x;
  q.x += k - rest * extent.x;
  k = rest;
  rest = k / extent.y;
  q.y += k - rest * extent.y;
  k = rest;
  rest = k / extent.z;
  q.z += k - rest * extent.z;
  q.w += rest;
  vec4 v = load_x(q);
#ifdef CHANNELS
  v = mix(vec4(neutral), v, lessThan(4 * q.z + ivec4(0, 1, 2, 3), ivec4(x_shape.z)));
#endif
  return v;
}

#ifdef CHANNELS
#define ACROSS(join, v) v = join(join(v.xxxx, v.yyyy), join(v.zzzz, v.wwww))
#else
#define ACROSS(join, v)
#endif

void main() {
  ivec4 p;
#ifdef COOPERATIVE
  ivec3 id = ivec3(gl_WorkGroupID);
  int n = id.x / y_shape.x;
  p = ivec4(id.x - n * y_shape.x, id.y, id.z, n);
#else
  if (!output_texel(y_shape, p)) return;
#endif
  int parts = extent.x * extent.y * extent.z * extent.w;
  vec4 shift = vec4(0);
#ifdef LOG_SUM_EXP
  shift = vec4(-INFINITY);
  for (int k = FIRST_LANE; k < parts; k += LANES) shift = join_max(shift, load_part(p, k, -INFINITY));
  shift = gather_max(shift);
  ACROSS(join_max, shift);
  shift = mix(shift, vec4(0), isinf(shift));
#endif
  vec4 total = vec4(NEUTRAL);
  for (int k = FIRST_LANE; k < parts; k += LANES) {
#ifdef LOG_SUM_EXP
    total = JOIN(total, TERM(load_part(p, k, -INFINITY) - shift));
#else
    total = JOIN(total, TERM(load_part(p, k, NEUTRAL)));
#endif
  }
  total = GATHER(total);
  ACROSS(JOIN, total);
  if (FIRST_LANE == 0) store_y(p, FINISH(total, count) + shift);
}
