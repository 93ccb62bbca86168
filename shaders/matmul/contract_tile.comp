// contract.comp for integers, if one loop of y advances only in b and another only in a, as in matrix products
// and convolutions. An invocation computes TILE_ROWS x 4 elements of y, so that each loaded element is used
// in several products. With ADD the tensor `before` is added to the sums. Integers wrap around, so the order of
// the terms does not matter.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "contract_tile.h"
#include "tensor.glsl"
#include "element.glsl"
#include "divide.glsl"

LINEAR_IN(a)
LINEAR_IN(b)
#ifdef ADD
LINEAR_IN(before)
#endif
SCALARS_OUT(y)

// Returns the offsets in a and b at iteration i of the summed loops except the last.
ivec2 offsets(int i, int first, int last) {
  ivec2 at = ivec2(a_first, b_first);
  for (int d = last - 1; d >= first; --d) {
    ivec2 split = divide(i, dims[d]);
    at += split.y * ivec2(a_strides[d], b_strides[d]);
    i = split.x;
  }
  return at;
}

void main() {
  int i = flat_index();
  if (i >= count) return;
  int kept = loops & 255, last = ((loops >> 8) & 255) - 1, columns = (loops >> 16) & 255, rows = loops >> 24;
  ivec2 corner = ivec2(0);
  int y_corner = 0, y_stride = 1, column_step = 0, row_step = 0, column = 0, row = 0;
  for (int d = kept - 1; d >= 0; --d) {
    int width = d == columns ? 4 : d == rows ? TILE_ROWS : 1;
    ivec2 split = divide(i, (dims[d] + width - 1) / width);
    int at = width * split.y;
    if (d == columns) column = at, column_step = y_stride;
    if (d == rows) row = at, row_step = y_stride;
    corner += at * ivec2(a_strides[d], b_strides[d]);
    y_corner += at * y_stride;
    y_stride *= dims[d];
    i = split.x;
  }
  // Beyond the ends of y the last column and row are computed again.
  int last_column = min(dims[columns] - column, 4) - 1, last_row = min(dims[rows] - row, TILE_ROWS) - 1;
  ivec4 b_at = corner.y + min(ivec4(0, 1, 2, 3), ivec4(last_column)) * b_strides[columns];
  int a_at[TILE_ROWS];
  ivec4 sum[TILE_ROWS];
  [[unroll]] for (int r = 0; r < TILE_ROWS; ++r) {
    a_at[r] = corner.x + min(r, last_row) * a_strides[rows];
    sum[r] = ivec4(0);
  }
  int parts = 1;
  for (int d = kept; d < last; ++d) parts *= dims[d];
  ivec2 step = ivec2(a_strides[last], b_strides[last]);
  for (int part = 0; part < parts; ++part) {
    ivec2 at = offsets(part, kept, last);
    for (int k = 0; k < dims[last]; ++k, at += step) {
      ivec4 factors = ivec4(load_b(b_at.x + at.y), load_b(b_at.y + at.y), load_b(b_at.z + at.y), load_b(b_at.w + at.y));
      [[unroll]] for (int r = 0; r < TILE_ROWS; ++r) sum[r] = plus(sum[r], times(load_a(a_at[r] + at.x), factors));
    }
  }
  for (int r = 0; r <= last_row; ++r)
    for (int c = 0; c <= last_column; ++c) {
      int to = y_corner + r * row_step + c * column_step;
#ifdef ADD
      set_y(to, plus(sum[r][c], load_before(to)));
#else
      set_y(to, sum[r][c]);
#endif
    }
}
