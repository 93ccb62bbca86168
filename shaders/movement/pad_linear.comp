// Pad of linear tensors: element (c0, c1, ...) of y is element (c0 - begin0, ...) of x, extended by `mode`.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 2

#include "pad_linear.h"
#include "tensor.glsl"
#include "element.glsl"
#include "divide.glsl"
#include "pad.glsl"

LINEAR_IN(x)
LINEAR_OUT(y)
#define LINEAR_RESULTS
#include "epilogue.glsl"

// Returns the offset in x of the row of y, ignoring padding along the row; -1 if the whole row is the fill
// value.
int row_start(int row) {
  int at = 0, stride = x_dims[rank - 1];
  for (int d = rank - 2; d >= 0; --d) {
    ivec2 split = divide(row, y_dims[d]);
    int c = split.y - begin[d];
    if (mode != PAD_CONSTANT) c = pad_source(c, x_dims[d], mode);
    else if (c < 0 || c >= x_dims[d]) return -1;
    at += c * stride;
    stride *= x_dims[d];
    row = split.x;
  }
  return at;
}

SCALAR element(int start, int column) {
  int c = column - begin[rank - 1], width = x_dims[rank - 1];
  if (mode != PAD_CONSTANT) return load_x(start + pad_source(c, width, mode));
#ifdef INTEGER
  return start >= 0 && c >= 0 && c < width ? load_x(start + c) : integer_fill;
#else
  return start >= 0 && c >= 0 && c < width ? load_x(start + c) : fill;
#endif
}

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  int width = y_dims[rank - 1];
  ivec2 at = divide(4 * i4, width);  // row, column
  int start = row_start(at.x);
  VECTOR v;
  for (int j = 0; j < 4; ++j) {
    if (at.y == width) {
      at = ivec2(at.x + 1, 0);
      // The value after the last element is arbitrary.
      if (4 * i4 + j < count) start = row_start(at.x);
    }
    v[j] = element(start, at.y);
    ++at.y;
  }
  store_result(i4, v);
}
