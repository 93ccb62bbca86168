// Matrix product of operands whose rows are whole texels of four elements. An invocation computes TILE_P rows
// of TILE_S times four columns; neighbouring invocations compute neighbouring columns of the same rows.
// LAST_FACTORS: the number of elements in the last texel of a row of A, if they do not fill it.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "matmul.glsl"

vec4 sum[TILE_S][TILE_P];

// Adds the products of four columns of A, of which the first `count` exist, with four rows of B.
void add_products(int a_row[TILE_P], int b_column[TILE_S], int texel, int width, int count) {
  vec4 a[TILE_P];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) a[i] = load4_a(a_row[i] + texel);
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int c = 0; c < count; ++c) {
      vec4 b = load4_b(b_column[s] + (4 * texel + c) * width);
      [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] += a[i][c] * b;
    }
}

void main() {
  int M = y_rows, K = depth, quads = (y_columns + 3) >> 2;
  int blocks_p = (M + TILE_P - 1) / TILE_P;
  int blocks_s = (quads + TILE_S - 1) / TILE_S;
  ivec2 by_quad = divide(flat_index(), blocks_s);
  ivec2 by_row = divide(by_quad.x, blocks_p);
  int first_quad = TILE_S * by_quad.y, first_row = TILE_P * by_row.y, matrix = by_row.x;
  if (matrix >= matrices) return;

  // Rows and columns after the last one repeat it and are not stored.
  ivec2 first = matrix_offsets(matrix);
  int a_width = (K + 3) >> 2;
  int a_row[TILE_P], b_column[TILE_S];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) a_row[i] = first.x + min(first_row + i, M - 1) * a_width;
  [[unroll]] for (int s = 0; s < TILE_S; ++s) b_column[s] = first.y + min(first_quad + s, quads - 1);
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] = vec4(0);
  for (int texel = 0; texel < K >> 2; ++texel) add_products(a_row, b_column, texel, quads, 4);
#ifdef LAST_FACTORS
  add_products(a_row, b_column, K >> 2, quads, LAST_FACTORS);
#endif

  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) {
      int row = first_row + i, quad = first_quad + s;
      if (row < M && quad < quads) store_sums(matrix, row, quad, quads, sum[s][i]);
    }
}
