// Running sums along one axis of a linear tensor. A workgroup computes one row: each invocation sums one
// part, then computes the running sums of that part, starting with the sum of the parts before it.
// https://onnx.ai/onnx/operators/onnx__CumSum.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "cum_sum.h"
#include "tensor.glsl"
#include "element.glsl"
#include "divide.glsl"

LINEAR_IN(x)
#if defined(SEGMENTED) && !defined(TOTALS)
LINEAR_IN(offsets)
#endif
SCALARS_OUT(y)

shared SCALAR totals[WORKGROUP_X];

int position(int row, int k) {
  int outer = row / inner;
  return (outer * length + (reversed != 0 ? length - 1 - k : k)) * inner + row - outer * inner;
}

void main() {
  int index = int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x);
#ifdef SEGMENTED
  ivec2 by_segment = divide(index, segments);
  int row = by_segment.x, begin = by_segment.y * segment, end_of_all = min(begin + segment, length);
#else
  const int begin = 0;
  int row = index, end_of_all = length;
#endif
  if (row >= rows) return;
  int lane = int(gl_LocalInvocationID.x);
  int part = (end_of_all - begin + WORKGROUP_X - 1) / WORKGROUP_X;
  int first = min(begin + lane * part, end_of_all), end = min(first + part, end_of_all);
  SCALAR total = SCALAR(0);
  for (int k = first; k < end; ++k) total = plus(total, load_x(position(row, k)));
  totals[lane] = total;
  barrier();
#ifdef TOTALS
  if (lane > 0) return;
  SCALAR sum = SCALAR(0);
  for (int l = 0; l < WORKGROUP_X; ++l) sum = plus(sum, totals[l]);
  set_y(index, sum);
#else
#ifdef SEGMENTED
  SCALAR sum = load_offsets(index);
#else
  SCALAR sum = SCALAR(0);
#endif
  for (int l = 0; l < lane; ++l) sum = plus(sum, totals[l]);
  for (int k = first; k < end; ++k) {
    int at = position(row, k);
    SCALAR before = sum;
    sum = plus(sum, load_x(at));
    set_y(at, exclusive != 0 ? before : sum);
  }
#endif
}
