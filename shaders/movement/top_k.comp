// Indices of the k largest (with SMALLEST: smallest) elements along one axis of a linear tensor, in order (top_k.glsl).
// https://onnx.ai/onnx/operators/onnx__TopK.html
//
// A workgroup processes one row and finds the next element k times. With RANKED an invocation processes one element and
// counts the elements that precede it: more work, but all of it in parallel.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "top_k.h"
#include "tensor.glsl"
#include "element.glsl"
#include "top_k.glsl"

LINEAR_IN(x)
SCALARS_OUT(y)

// The key of element i.
int element(int row, int i) {
  int outer = row / inner;
  return key_of(load_x((outer * length + i) * inner + row - outer * inner));
}

void choose(int row, int rank, int i) {
  int outer = row / inner;
  set_y((outer * k + rank) * inner + row - outer * inner, i);
}

#ifdef RANKED

void main() {
  int id = flat_index();
  if (id >= rows * length) return;
  int row = id / length, i = id - row * length;
  int v = element(row, i);
  int rank = 0;
  for (int j = 0; j < length; ++j)
    if (precedes(element(row, j), j, v, i)) ++rank;
  if (rank < k) choose(row, rank, i);
}

#else

shared int keys[WORKGROUP_X];
shared int indices[WORKGROUP_X];  // -1: none

void main() {
  int row = int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x);
  if (row >= rows) return;
  int lane = int(gl_LocalInvocationID.x);
  int last = 0;
  int last_index = -1;
  for (int rank = 0; rank < k; ++rank) {
    int best = 0;
    int index = -1;
    for (int i = lane; i < length; i += WORKGROUP_X) {
      int v = element(row, i);
      bool left = rank == 0 || precedes(last, last_index, v, i);
      if (left && (index < 0 || precedes(v, i, best, index))) {
        best = v;
        index = i;
      }
    }
    keys[lane] = best;
    indices[lane] = index;
    barrier();
    for (int n = WORKGROUP_X / 2; n > 0; n /= 2) {
      if (lane < n && indices[lane + n] >= 0 &&
          (indices[lane] < 0 || precedes(keys[lane + n], indices[lane + n], keys[lane], indices[lane]))) {
        keys[lane] = keys[lane + n];
        indices[lane] = indices[lane + n];
      }
      barrier();
    }
    last = keys[0];
    last_index = indices[0];
    barrier();
    if (lane == 0) choose(row, rank, last_index);
  }
}

#endif
