// y[...] = x[offset + sum of indices[first + k] * steps[k]] of linear tensors, where the loops over y determine offset and
// first: Gather, GatherElements, GatherND. Negative indices count from the end. GROUPS: count, dims, x_strides and steps
// are in groups of four elements, whose order is the same in x and y.
// https://onnx.ai/onnx/operators/onnx__Gather.html, onnx__GatherElements.html, onnx__GatherND.html
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#include "gather.h"
#include "tensor.glsl"
#include "element.glsl"
#include "divide.glsl"

LINEAR_IN(x)
LINEAR_IN(indices)
LINEAR_OUT(y)

int source(int i) {
  int at = 0, first = 0;
  for (int d = rank - 1; d > 0; --d) {
    ivec2 split = divide(i, dims[d]);
    at += split.y * x_strides[d];
    first += split.y * index_strides[d];
    i = split.x;
  }
  at += i * x_strides[0];
  first += i * index_strides[0];
  for (int k = 0; k < depth; ++k) {
    int index = load_indices(first + k);
    if (index < 0) index += sizes[k];
    // An index out of range is an error that a kernel cannot report; the clamp keeps the read inside x.
    at += clamp(index, 0, sizes[k] - 1) * steps[k];
  }
  return at;
}

void main() {
  int i4 = flat_index();
#ifdef GROUPS
  if (i4 < count) store_y(i4, load4_x(source(i4)));
#else
  if (4 * i4 >= count) return;
  VECTOR v;
  for (int j = 0; j < 4; ++j) v[j] = load_x(source(min(4 * i4 + j, count - 1)));
  store_y(i4, v);
#endif
}
