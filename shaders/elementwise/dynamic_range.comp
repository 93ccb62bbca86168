// Computes the range of a tensor, extended to contain 0: the largest element and the negated smallest one, as the
// bits of floats in two counters that begin with 0. Floats from 0 on are ordered as their bits are. A NaN is
// ignored. With LINEAR_LAYOUT the tensor is linear. With CONTIGUOUS texels are read in their order in memory, and
// x_shape is a row of them.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "dynamic_range.h"
#include "tensor.glsl"
#include "divide.glsl"

#ifdef LINEAR_LAYOUT
LINEAR_IN(x)
#else
TENSOR_IN(x)
#endif
LINEAR_ATOMIC(counters)

const uint SIGN = 0x80000000u, INFINITE = 0x7f800000u;
shared uint extremes[2];
uvec4 highest = uvec4(0), lowest = uvec4(0);

void include(vec4 v) {
  uvec4 up = floatBitsToUint(v), down = up ^ SIGN;
  highest = max(highest, mix(up, uvec4(0), greaterThan(up, uvec4(INFINITE))));
  lowest = max(lowest, mix(down, uvec4(0), greaterThan(down, uvec4(INFINITE))));
}

uint largest(uvec4 v) { return max(max(v.x, v.y), max(v.z, v.w)); }

void main() {
#ifdef LINEAR_LAYOUT
  for (int i4 = flat_index(); 4 * i4 < count; i4 += invocations)
    include(keep_channels(load4_x(i4), count - 4 * i4));
#else
#ifdef CONTIGUOUS
  // Four texels in each iteration, because on CPUs an iteration takes longer than a load.
  for (int i = flat_index(); i < count; i += 4 * invocations)
    [[unroll]] for (int k = 0; k < 4; ++k) include(load_x(ivec4(min(i + k * invocations, count - 1), 0, 0, 0)));
#else
  for (int i = flat_index(); i < count; i += invocations) {
    ivec2 by_column = divide(i, x_shape.x);
    ivec2 by_row = divide(by_column.x, x_shape.y);
    ivec2 by_slice = divide(by_row.x, slices(x_shape.z));
    include(load_x(ivec4(by_column.y, by_row.y, by_slice.y, by_slice.x)));
  }
#endif
#endif
  int lane = int(gl_LocalInvocationIndex);
  if (lane < 2) extremes[lane] = 0;
  barrier();
  atomicMax(extremes[0], largest(highest));
  atomicMax(extremes[1], largest(lowest));
  barrier();
  if (lane < 2) atomicMax(counters_data[counter + lane], extremes[lane]);
}
