// Sorts segments of the rows of a linear tensor for TopK: a workgroup sorts one segment of an element for each of its
// invocations and stores the first `kept` elements, a run, with their indices in the row. top_k_merge.comp merges runs.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "top_k_runs.h"
#include "tensor.glsl"
#include "element.glsl"
#include "divide.glsl"
#include "top_k.glsl"

LINEAR_IN(x)
SCALARS_OUT(values)
SCALARS_OUT(indices)

shared SCALAR elements[WORKGROUP_X];

void main() {
  int run = int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x);
  if (run >= rows * runs) return;
  ivec2 by_run = divide(run, runs), by_row = divide(by_run.x, inner);
  int lane = int(gl_LocalInvocationID.x), first = by_run.y * WORKGROUP_X;
  int count = min(WORKGROUP_X, length - first), i = first + min(lane, count - 1);
  SCALAR v = load_x((by_row.x * length + i) * inner + by_row.y);
  elements[lane] = v;
  barrier();
  if (lane >= count) return;
  int rank = 0;
  for (int j = 0; j < count; ++j)
    if (precedes(elements[j], j, v, lane)) ++rank;
  if (rank >= kept) return;
  set_values(run * kept + rank, v);
  set_indices(run * kept + rank, i);
}
