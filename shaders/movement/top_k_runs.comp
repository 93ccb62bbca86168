// Sorts segments of the rows of a linear tensor for TopK: an invocation ranks one element among those of its
// segment. For each segment it stores a run: the keys of the first `kept` elements, and their indices in the
// row. top_k_merge.comp merges runs.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "top_k_runs.h"
#include "tensor.glsl"
#include "element.glsl"
#include "divide.glsl"
#include "top_k.glsl"

LINEAR_IN(x)
SCALARS_OUT(keys)
SCALARS_OUT(indices)

const int kSegment = 16;

void main() {
  int id = flat_index();
  ivec2 by_run = divide(id, kSegment), by_row = divide(by_run.x, runs), by_inner = divide(by_row.x, inner);
  int first = by_row.y * kSegment, count = min(kSegment, length - first), lane = by_run.y;
  if (by_row.x >= rows || lane >= count) return;
  int at = (by_inner.x * length + first) * inner + by_inner.y;
  int key = key_of(load_x(at + lane * inner)), rank = 0;
  for (int j = 0; j < count; ++j)
    if (precedes(key_of(load_x(at + j * inner)), j, key, lane)) ++rank;
  if (rank >= kept) return;
  int to = by_run.x * kept + rank;
  set_keys(to, key);
  set_indices(to, first + lane);
}
