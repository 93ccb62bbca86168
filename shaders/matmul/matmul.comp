// Matrix product of operands whose rows are whole texels of four elements. An invocation computes TILE_P rows
// of TILE_S times four columns; neighbouring invocations compute neighbouring columns of the same rows.
// LAST_FACTORS: the number of elements in the last texel of a row of A, if they do not fill it.
// PARTS: split-K over PARTS invocations of a workgroup (split_k.glsl).
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "matmul.glsl"

vec4 sum[TILE_S][TILE_P];

#ifdef PARTS
#define SUMS vec4
vec4 scaled(int s, vec4 v) { return v; }
#include "split_k.glsl"
int tile_index() {
  return int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * WORKGROUP_X + lane_of_row();
}
#else
int tile_index() { return flat_index(); }
#endif

// Returns four columns of row k of B. `column`: the first column's position in row 0; a row has `width` texels.
vec4 row_of_b(int column, int k, int width) {
#ifdef MATRICES
  return load_b(ivec4(0, 0, column, k));
#else
  return load4_b(column + k * width);
#endif
}

// Adds the products of four columns of A, of which the first `count` exist, with four rows of B.
void add_products(int a_row[TILE_P], int b_column[TILE_S], int texel, int width, int count) {
  vec4 a[TILE_P];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) a[i] = load4_a(a_row[i] + texel);
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int c = 0; c < count; ++c) {
      vec4 b = row_of_b(b_column[s], 4 * texel + c, width);
      [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] += a[i][c] * b;
    }
}

void main() {
  int M = y_rows, K = depth, quads = (y_columns + 3) >> 2;
  int blocks_p = (M + TILE_P - 1) / TILE_P;
  int blocks_s = (quads + TILE_S - 1) / TILE_S;
  ivec2 by_quad = divide(tile_index(), blocks_s);
  ivec2 by_row = divide(by_quad.x, blocks_p);
  int first_quad = TILE_S * by_quad.y, first_row = TILE_P * by_row.y, matrix = by_row.x;
#ifdef PARTS
  bool wanted = matrix < matrices;
  matrix = min(matrix, matrices - 1);
#else
  if (matrix >= matrices) return;
#endif

  // Rows and columns after the last one repeat it and are not stored.
  ivec2 first = matrix_offsets(matrix);
  int a_width = (K + 3) >> 2;
  int a_row[TILE_P], b_column[TILE_S];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) a_row[i] = first.x + min(first_row + i, M - 1) * a_width;
  [[unroll]] for (int s = 0; s < TILE_S; ++s) b_column[s] = first.y + min(first_quad + s, quads - 1);
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] = vec4(0);
#ifdef PARTS
  ivec2 range = slices_of_split(a_width);
#else
  ivec2 range = ivec2(0, a_width);
#endif
  for (int texel = range.x; texel < min(range.y, K >> 2); ++texel) add_products(a_row, b_column, texel, quads, 4);
#ifdef LAST_FACTORS
  if (range.x < a_width && range.y == a_width) add_products(a_row, b_column, K >> 2, quads, LAST_FACTORS);
#endif

#ifdef PARTS
  share_partial_sums();
  [[dont_unroll]] for (int texel = split_index(); texel < TILE_S * TILE_P; texel += PARTS) {
    int row = first_row + texel % TILE_P, quad = first_quad + texel / TILE_P;
    if (wanted && row < M && quad < quads) store_sums(matrix, row, quad, quads, reduced_sum(texel));
  }
#else
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) {
      int row = first_row + i, quad = first_quad + s;
      if (row < M && quad < quads) store_sums(matrix, row, quad, quads, sum[s][i]);
    }
#endif
}
