// Merges up to four neighbouring sorted runs of TopK into one, and keeps its first `kept` elements. An
// invocation computes the position of one element: its position in its own run, plus the number of preceding
// elements in each other run, by binary search (Satish, Harris, Garland, Designing efficient sorting
// algorithms for manycore GPUs, 2009). Equal elements keep the order of their runs. LAST: the merged run is
// the result, of which only the indices are stored.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "top_k_merge.h"
#include "tensor.glsl"
#include "divide.glsl"
#define INTEGER
#include "top_k.glsl"

LINEAR_IN(x_keys)
LINEAR_IN(x_indices)
#ifdef LAST
SCALARS_OUT(y)
#else
SCALARS_OUT(keys)
SCALARS_OUT(indices)
#endif

const int kMerged = 4;

// Returns the number of elements of a run of each row.
int size_of(int run) { return min(stride, length - run * span); }

void main() {
  int id = flat_index();
  if (id >= rows * runs * stride) return;
  ivec2 by_element = divide(id, stride), by_run = divide(by_element.x, runs);
  int run = by_run.y, row = by_run.x;
  if (by_element.y >= size_of(run)) return;
  int key = load_x_keys(id);
  int group = run / kMerged, rank = by_element.y;
  for (int other = group * kMerged; other < min(group * kMerged + kMerged, runs); ++other) {
    if (other == run) continue;
    int begin = 0, end = size_of(other), first = (row * runs + other) * stride;
    while (begin < end) {
      int middle = (begin + end) >> 1;
      if (precedes(load_x_keys(first + middle), other, key, run))
        begin = middle + 1;
      else
        end = middle;
    }
    rank += begin;
  }
  if (rank >= kept) return;
#ifdef LAST
  ivec2 by_row = divide(row, inner);
  set_y((by_row.x * kept + rank) * inner + by_row.y, load_x_indices(id));
#else
  int to = (row * ((runs + kMerged - 1) / kMerged) + group) * kept + rank;
  set_keys(to, key);
  set_indices(to, load_x_indices(id));
#endif
}
