// Matrix product whose rows are whole quadruples of elements (N a multiple of 4): an invocation computes TILE_R rows
// of four columns.
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
  int blocks = (size.x + TILE_R - 1) / TILE_R;
  ivec2 by_quad = divide(flat_index(), quads);
  ivec2 by_block = divide(by_quad.x, blocks);
  int column = 4 * by_quad.y, row = TILE_R * by_block.y, matrix = by_block.x;
  if (matrix >= size.w) return;

  ivec2 first = matrix_offsets(matrix);
  int a_row[TILE_R];
  [[unroll]] for (int r = 0; r < TILE_R; ++r) a_row[r] = first.x + min(row + r, size.x - 1) * a_strides.x;
  vec4 sum[TILE_R];
  [[unroll]] for (int r = 0; r < TILE_R; ++r) sum[r] = vec4(0);
  for (int k = 0; k < size.z; ++k) {
    vec4 b = load_b_quad(first.y + k * b_strides.x + column * b_strides.y);
    [[unroll]] for (int r = 0; r < TILE_R; ++r) sum[r] += load_a(a_row[r] + k * a_strides.y) * b;
  }

  [[unroll]] for (int r = 0; r < TILE_R; ++r) {
    if (row + r < size.x) {
      vec4 addend;
      [[unroll]] for (int j = 0; j < 4; ++j) addend[j] = load_addend(row + r, column + j);
      store_y((matrix * size.x + row + r) * quads + by_quad.y, activate(alpha * sum[r] + addend));
    }
  }
}
