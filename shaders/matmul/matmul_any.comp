// Matrix product of any size. An invocation computes four consecutive elements of the result, which may be in
// different rows and matrices. With COOPERATIVE a workgroup shares the sums.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#define STRIDED
#include "matmul.glsl"
#include "cooperate.glsl"

void main() {
  int i4 = result_index();
  int total = y_rows * y_columns * matrices;
  if (4 * i4 >= total) return;

  ivec4 a_first, b_first;
  vec4 addend;
  [[unroll]] for (int j = 0; j < 4; ++j) {
    ivec2 by_column = divide(min(4 * i4 + j, total - 1), y_columns);
    ivec2 by_row = divide(by_column.x, y_rows);
    ivec2 first = matrix_offsets(by_row.x);
    a_first[j] = first.x + by_row.y * a_row_stride;
    b_first[j] = first.y + by_column.y * b_column_stride;
    addend[j] = load_addend(by_row.y, by_column.y);
  }
  vec4 sum = vec4(0);
  for (int k = FIRST_LANE; k < depth; k += LANES) {
    ivec4 a = a_first + k * a_column_stride, b = b_first + k * b_row_stride;
    sum += vec4(load_a(a.x), load_a(a.y), load_a(a.z), load_a(a.w)) *
           vec4(load_b(b.x), load_b(b.y), load_b(b.z), load_b(b.w));
  }
  sum = gather_sum(sum);
  if (FIRST_LANE == 0) store_y(i4, finish_sums(sum, addend));
}
