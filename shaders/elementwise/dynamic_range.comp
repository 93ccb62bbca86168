// Computes the range of a tensor (range.glsl). With LINEAR_LAYOUT the tensor is linear. With CONTIGUOUS texels are read in
// their order in memory, and x_shape is a row of them. A workgroup reads a range of x.
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
#include "range.glsl"

void main() {
  const int first = workgroup_index() * (WORKGROUP_X * each);
#ifdef LINEAR_LAYOUT
  const int end = min(first + WORKGROUP_X * each, (count + 3) >> 2);
  for (int i4 = first + int(gl_LocalInvocationID.x); i4 < end; i4 += WORKGROUP_X)
    include_in_range(keep_channels(load4_x(i4), count - 4 * i4));
#else
  const int end = min(first + WORKGROUP_X * each, count);
#ifdef CONTIGUOUS
  // Four texels in each iteration, because on CPUs an iteration takes longer than a load.
  for (int i = first + int(gl_LocalInvocationID.x); i < end; i += 4 * WORKGROUP_X)
    [[unroll]] for (int k = 0; k < 4; ++k) include_in_range(load_x(ivec4(min(i + k * WORKGROUP_X, end - 1), 0, 0, 0)));
#else
  for (int i = first + int(gl_LocalInvocationID.x); i < end; i += WORKGROUP_X) {
    ivec2 by_column = divide(i, x_shape.x);
    ivec2 by_row = divide(by_column.x, x_shape.y);
    ivec2 by_slice = divide(by_row.x, slices(x_shape.z));
    include_in_range(load_x(ivec4(by_column.y, by_row.y, by_slice.y, by_slice.x)));
  }
#endif
#endif
  merge_range(counter);
}
