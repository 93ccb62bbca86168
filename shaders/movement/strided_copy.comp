// y[c0, c1, ...] = x[base + c0 * strides[0] + c1 * strides[1] + ...] of linear tensors: Transpose, Slice, Split,
// Expand, Tile. GROUPS: copies groups of four contiguous elements; all parameters count groups.
// LONG_ROWS: the innermost dimension is at least three, so that four elements of y are in at most two rows. Positions are
// computed from an index only for the first element of each row.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#include "strided_copy.h"
#include "tensor.glsl"
#include "element.glsl"
#include "divide.glsl"

LINEAR_IN(x)
LINEAR_OUT(y)
#define LINEAR_RESULTS
#include "epilogue.glsl"

int source(int i) {
  int at = base;
  for (int d = rank - 1; d > 0; --d) {
    ivec2 split = divide(i, dims[d]);
    at += split.y * strides[d];
    i = split.x;
  }
  return at + i * strides[0];
}

void main() {
  int i4 = flat_index();
#ifdef GROUPS
  if (i4 < count) store_result(i4, load4_x(source(i4)));
#elif defined(LONG_ROWS)
  if (4 * i4 >= count) return;
  int length = dims[rank - 1], stride = strides[rank - 1];
  int column = divide(4 * i4, length).y, first = source(4 * i4), next = source(min(4 * i4 + length - column, count - 1));
  VECTOR v;
  for (int j = 0; j < 4; ++j) {
    int step = min(j, count - 1 - 4 * i4), at = column + step;
    v[j] = load_x(at < length ? first + step * stride : next + (at - length) * stride);
  }
  store_result(i4, v);
#else
  if (4 * i4 >= count) return;
  VECTOR v;
  for (int j = 0; j < 4; ++j) v[j] = load_x(source(min(4 * i4 + j, count - 1)));
  store_result(i4, v);
#endif
}
