// Computes the range of a tensor (range.glsl). With LINEAR_LAYOUT the tensor is linear. With CONTIGUOUS texels are read in
// their order in memory, and x_shape is a row of them.
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
#ifdef LINEAR_LAYOUT
  for (int i4 = flat_index(); 4 * i4 < count; i4 += invocations)
    include_in_range(keep_channels(load4_x(i4), count - 4 * i4));
#else
#ifdef CONTIGUOUS
  // Four texels in each iteration, because on CPUs an iteration takes longer than a load.
  for (int i = flat_index(); i < count; i += 4 * invocations)
    [[unroll]] for (int k = 0; k < 4; ++k) include_in_range(load_x(ivec4(min(i + k * invocations, count - 1), 0, 0, 0)));
#else
  for (int i = flat_index(); i < count; i += invocations) {
    ivec2 by_column = divide(i, x_shape.x);
    ivec2 by_row = divide(by_column.x, x_shape.y);
    ivec2 by_slice = divide(by_row.x, slices(x_shape.z));
    include_in_range(load_x(ivec4(by_column.y, by_row.y, by_slice.y, by_slice.x)));
  }
#endif
#endif
  merge_range(counter);
}
