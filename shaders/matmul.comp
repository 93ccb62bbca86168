// Matrix product whose rows are whole quadruples of elements (N a multiple of 4): an invocation computes TILE_P rows
// of TILE_S times four columns.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "matmul.glsl"

vec4 load_b_quad(int first) {
  return vec4(load_b(first), load_b(first + b_strides.y), load_b(first + 2 * b_strides.y),
              load_b(first + 3 * b_strides.y));
}

void main() {
  int quads = size.y >> 2;
  int blocks_p = (size.x + TILE_P - 1) / TILE_P;
  int blocks_s = (quads + TILE_S - 1) / TILE_S;
  ivec2 by_quad = divide(flat_index(), blocks_s);
  ivec2 by_row = divide(by_quad.x, blocks_p);
  int first_quad = TILE_S * by_quad.y, first_row = TILE_P * by_row.y, matrix = by_row.x;
  if (matrix >= size.w) return;

  // Rows and columns behind the last one repeat it and are not stored.
  ivec2 first = matrix_offsets(matrix);
  int a_row[TILE_P], b_column[TILE_S];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) a_row[i] = first.x + min(first_row + i, size.x - 1) * a_strides.x;
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    b_column[s] = first.y + 4 * min(first_quad + s, quads - 1) * b_strides.y;
  vec4 sum[TILE_S][TILE_P];
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] = vec4(0);
  for (int k = 0; k < size.z; ++k) {
    float a[TILE_P];
    [[unroll]] for (int i = 0; i < TILE_P; ++i) a[i] = load_a(a_row[i] + k * a_strides.y);
    [[unroll]] for (int s = 0; s < TILE_S; ++s) {
      vec4 b = load_b_quad(b_column[s] + k * b_strides.x);
      [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] += a[i] * b;
    }
  }

  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) {
      int row = first_row + i, quad = first_quad + s;
      if (row < size.x && quad < quads) {
        vec4 addend;
        [[unroll]] for (int j = 0; j < 4; ++j) addend[j] = load_addend(row, 4 * quad + j);
        store_y((matrix * size.x + row) * quads + quad, activate(alpha * sum[s][i] + addend));
      }
    }
}
