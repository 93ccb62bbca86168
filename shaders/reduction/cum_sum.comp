// Running sums along one axis of a linear tensor. A workgroup computes one row: each invocation sums one part of it, then
// computes the running sums of that part from the sum of the parts before it.
// https://onnx.ai/onnx/operators/onnx__CumSum.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "cum_sum.h"
#include "tensor.glsl"
#include "element.glsl"

LINEAR_IN(x)
SCALARS_OUT(y)

shared SCALAR totals[WORKGROUP_X];

int position(int row, int k) {
  int outer = row / inner;
  return (outer * length + (reversed != 0 ? length - 1 - k : k)) * inner + row - outer * inner;
}

void main() {
  int row = int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x);
  if (row >= rows) return;
  int lane = int(gl_LocalInvocationID.x);
  int part = (length + WORKGROUP_X - 1) / WORKGROUP_X;
  int first = min(lane * part, length), end = min(first + part, length);
  SCALAR total = SCALAR(0);
  for (int k = first; k < end; ++k) total += load_x(position(row, k));
  totals[lane] = total;
  barrier();
  SCALAR sum = SCALAR(0);
  for (int l = 0; l < lane; ++l) sum += totals[l];
  for (int k = first; k < end; ++k) {
    int at = position(row, k);
    SCALAR before = sum;
    sum += load_x(at);
    set_y(at, exclusive != 0 ? before : sum);
  }
}
