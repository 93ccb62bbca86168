// Softmax (with LOG its logarithm) of a channels4 tensor along one axis. An invocation, or with COOPERATIVE a
// workgroup, makes one row: `length` texels in `direction`. CHANNELS: the row runs across the channels.
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Params {
  ivec4 y_shape;
  ivec4 rows;       // shape (W, H, C, N) of the first texels of all rows
  ivec4 direction;  // in (w, h, slice, n)
  int length;
};
#define x_shape y_shape

#include "tensor.glsl"
#include "texel.glsl"
#include "cooperate.glsl"

TENSOR_IN(0, x)
TENSOR_OUT(1, y)

vec4 load_part(ivec4 p) {
  vec4 v = load_x(p);
#ifdef CHANNELS
  v = mix(vec4(-INFINITY), v, lessThan(4 * p.z + ivec4(0, 1, 2, 3), ivec4(y_shape.z)));
#endif
  return v;
}

void main() {
  ivec4 p;
#ifdef COOPERATIVE
  ivec3 id = ivec3(gl_WorkGroupID);
  int n = id.x / rows.x;
  p = ivec4(id.x - n * rows.x, id.y, id.z, n);
#else
  if (!output_texel(rows, p)) return;
#endif
  vec4 largest = vec4(-INFINITY);
  for (int k = FIRST_LANE; k < length; k += LANES) largest = join_max(largest, load_part(p + k * direction));
  largest = gather_max(largest);
#ifdef CHANNELS
  largest = join_max(join_max(largest.xxxx, largest.yyyy), join_max(largest.zzzz, largest.wwww));
#endif
  vec4 total = vec4(0);
  for (int k = FIRST_LANE; k < length; k += LANES) total += exp(load_part(p + k * direction) - largest);
  total = gather_sum(total);
#ifdef CHANNELS
  total = vec4(dot(total, vec4(1)));
#endif
  for (int k = FIRST_LANE; k < length; k += LANES) {
    ivec4 q = p + k * direction;
    vec4 v = load_x(q) - largest;
#ifdef LOG
    store_y(q, v - log(total));
#else
    store_y(q, exp(v) / total);
#endif
  }
}
