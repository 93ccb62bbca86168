// Matrix product of two operands in texels by cooperative matrices: A as rows of K halves, or with A_COLUMNS as columns
// of M; B as rows of N, or with B_COLUMNS as columns of K. Rows and columns in memory are whole texels of four, padded with
// zeros.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "cooperative.glsl"

#include "matmul.glsl"
#define ALONG_ROWS
#include "cooperative_block.glsl"

int matrix, first_row, first_column, quads;
ivec2 first;        // texels of A and B
int a_rows_stored, a_width, b_rows_stored, b_width;  // in memory; widths in texels
int next_k = 0;

// Returns four halves of A, zero outside of it. A load outside is moved inside and its result dropped: loads in branches would
// wait for one another.
uvec2 halves_of_a(int row, int texel) {
  ivec2 there = min(ivec2(row, texel), ivec2(a_rows_stored, a_width) - 1);
  vec4 v = load4_a(first.x + there.x * a_width + there.y);
  return mix(uvec2(0), pack_half4(v), bvec2(there == ivec2(row, texel)));
}
uvec2 halves_of_b(int row, int texel) {
  ivec2 there = min(ivec2(row, texel), ivec2(b_rows_stored, b_width) - 1);
  vec4 v = load4_b(first.y + there.x * b_width + there.y);
  return mix(uvec2(0), pack_half4(v), bvec2(there == ivec2(row, texel)));
}

bool fetch() {
  if (next_k >= depth) return false;
#ifdef A_COLUMNS
  ivec2 corner_a = ivec2(next_k, first_row);
#else
  ivec2 corner_a = ivec2(first_row, next_k);
#endif
#ifdef B_COLUMNS
  ivec2 corner_b = ivec2(first_column, next_k);
#else
  ivec2 corner_b = ivec2(next_k, first_column);
#endif
  [[unroll]] for (int i = 0; i < LOADS_A; ++i) {
    ivec2 at = corner_a + place_a(i) * ivec2(1, 8);
    next_a[i] = uvec4(halves_of_a(at.x, at.y >> 2), halves_of_a(at.x, (at.y >> 2) + 1));
  }
  [[unroll]] for (int i = 0; i < LOADS_B; ++i) {
    ivec2 at = corner_b + place_b(i) * ivec2(1, 8);
    next_b[i] = uvec4(halves_of_b(at.x, at.y >> 2), halves_of_b(at.x, (at.y >> 2) + 1));
  }
  next_k += STEP_K;
  return true;
}

void finish(int row, int quad, vec4 v) {
  row += first_row;
  quad += first_column >> 2;
  if (row < y_rows && quad < quads) store_sums(matrix, row, quad, quads, v);
}

bool start() {
  int M = y_rows, N = y_columns, K = depth;
  quads = (N + 3) >> 2;
#ifdef A_COLUMNS
  a_rows_stored = K, a_width = (M + 3) >> 2;
#else
  a_rows_stored = M, a_width = (K + 3) >> 2;
#endif
#ifdef B_COLUMNS
  b_rows_stored = N, b_width = (K + 3) >> 2;
#else
  b_rows_stored = K, b_width = quads;
#endif
  ivec2 by_column = divide(workgroup_index(), (N + BLOCK_N - 1) / BLOCK_N);
  ivec2 by_row = divide(by_column.x, (M + BLOCK_M - 1) / BLOCK_M);
  first_column = BLOCK_N * by_column.y, first_row = BLOCK_M * by_row.y, matrix = by_row.x;
  if (matrix >= matrices) return false;
  first = matrix_offsets(matrix);
  return true;
}

#include "cooperative_main.glsl"
