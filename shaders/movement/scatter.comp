// y[offset + sum of indices[first + k] * steps[k]] = COMBINE(y[...], updates[i]) of linear tensors, where the
// loops over the updates determine offset and first: ScatterElements, ScatterND. UNRAVEL: a single flat index
// addresses all indexed dimensions (MaxUnpool). An invocation applies one update; the order of updates of the
// same element is undefined. PLAIN: elements are 32-bit words, and updates replace them.
// https://onnx.ai/onnx/operators/onnx__ScatterElements.html, onnx__ScatterND.html, onnx__MaxUnpool.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "scatter.h"
#include "tensor.glsl"
#include "element.glsl"
#include "divide.glsl"

LINEAR_IN(indices)
LINEAR_IN(updates)
LINEAR_ATOMIC(y)

SCALAR combine_none(SCALAR old, SCALAR update) { return update; }
SCALAR combine_add(SCALAR old, SCALAR update) { return plus(old, update); }
SCALAR combine_mul(SCALAR old, SCALAR update) { return times(old, update); }
SCALAR combine_max(SCALAR old, SCALAR update) { return update > old ? update : old; }
SCALAR combine_min(SCALAR old, SCALAR update) { return update < old ? update : old; }

// Returns the position in y, or -1 for an index out of range, which writes nothing.
int position(int i) {
  int at = 0, first = 0;
  for (int d = rank - 1; d > 0; --d) {
    ivec2 split = divide(i, dims[d]);
    at += split.y * y_strides[d];
    first += split.y * index_strides[d];
    i = split.x;
  }
  at += i * y_strides[0];
  first += i * index_strides[0];
#ifdef UNRAVEL
  int index = load_indices(first);
  if (index < 0) return -1;
  for (int k = depth - 1; k >= 0; --k) {
    ivec2 split = divide(index, sizes[k]);
    at += split.y * steps[k];
    index = split.x;
  }
  return index == 0 ? at : -1;
#else
  for (int k = 0; k < depth; ++k) {
    int index = load_indices(first + k);
    if (index < 0) index += sizes[k];
    if (index < 0 || index >= sizes[k]) return -1;
    at += index * steps[k];
  }
  return at;
#endif
}

void main() {
  int i = flat_index();
  if (i >= count) return;
  int at = position(i);
  if (at < 0) return;
  SCALAR update = load_updates(i);
  int word = word_of_y(at);
#ifdef PLAIN
  y_data[word] = with_part_y(0u, at, update);
#else
  // Another invocation may write the same element, or the other half of the same word.
  uint seen = y_data[word], before;
  do {
    before = seen;
    seen = atomicCompSwap(y_data[word], before, with_part_y(before, at, COMBINE(part_y(before, at), update)));
  } while (seen != before);
#endif
}
