// Matrix product of linear rows with constant, prepacked weights: an invocation computes TILE_P rows of TILE_S
// times four columns. The number of columns of y is a multiple of four. Weights are as in conv_tile.glsl with
// one tap: row = four columns of the result, column = k. QUADS: K is a multiple of four, so that rows of x are
// whole texels. BROADCAST requires QUADS.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef BROADCAST
#extension GL_KHR_shader_subgroup_ballot : require
#endif
#ifdef HALF_PRODUCTS
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif

#include "matmul_packed.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

#ifdef QUADS
QUADS_IN(x)
#else
LINEAR_IN(x)
#endif
TEXELS_IN(w)
LINEAR_OUT(y)

#include "conv_tile.glsl"

#ifdef QUADS
FACTORS[TILE_P] quad_of_rows(int x_row[TILE_P], int quad) {
  FACTORS x[TILE_P];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) x[i] = FACTORS(load4_x((x_row[i] >> 2) + quad));
  return x;
}
#elif defined(NIBBLES) || defined(WEIGHT_BLOCK)
// Returns four elements of each row, zero beyond its end.
vec4[TILE_P] quad_of_rows(int x_row[TILE_P], int quad) {
  vec4 x[TILE_P];
  [[unroll]] for (int i = 0; i < TILE_P; ++i)
    [[unroll]] for (int j = 0; j < 4; ++j) {
      int k = 4 * quad + j;
      x[i][j] = k < depth ? load_x(x_row[i] + min(k, depth - 1)) : 0.0;
    }
  return x;
}
#endif

void main() {
  int rows = y_rows, quads = y_columns >> 2, K = depth, grid_width = w_width;
  int blocks_p = (rows + TILE_P - 1) / TILE_P;
  int blocks_s = (quads + TILE_S - 1) / TILE_S;
  ivec2 block = block_of_invocation(blocks_p);
  int first_quad = TILE_S * block.x, first_row = TILE_P * block.y;
  if (block.x >= blocks_s) return;

  int x_row[TILE_P];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) x_row[i] = min(first_row + i, rows - 1) * K;
  start_with_bias(first_quad, blocks_s * TILE_S, blocks_s * TILE_S, grid_width);
#if defined(BROADCAST)
  for (int first = 0; first < K >> 2; first += STEP) {
    load_shared_weights(first, first_quad, 1, grid_width);
#define SLICE_OF_STEP(k)                             \
  if (first + k < K >> 2) {                          \
    vec4 x[TILE_P] = quad_of_rows(x_row, first + k); \
    ADD_SHARED_PRODUCTS(x, k)                        \
  }
    FOR_SLICES_OF_STEP(SLICE_OF_STEP)
  }
#elif defined(NIBBLES) || defined(WEIGHT_BLOCK)
  FOR_EACH_RUN(run, 0, (K + 3) >> 2)
    start_block(run, first_quad, 1);
    for (int quad = run; quad < run_end; ++quad)
      add_products(quad_of_rows(x_row, quad), 4 * quad, first_quad, 1, grid_width);
  END_EACH_RUN
#elif defined(QUADS)
  FOR_EACH_SLICE(quad, 0, K >> 2)
    add_products(quad_of_rows(x_row, quad), 4 * quad, first_quad, 1, grid_width);
  END_EACH_SLICE
#else
  int k = 0;
  for (; k + 4 <= K; k += 4) {
    vec4 x[TILE_P];
    [[unroll]] for (int i = 0; i < TILE_P; ++i)
      x[i] = vec4(load_x(x_row[i] + k), load_x(x_row[i] + k + 1), load_x(x_row[i] + k + 2), load_x(x_row[i] + k + 3));
    add_products(x, k, first_quad, 1, grid_width);
  }
  for (; k < K; ++k)
    [[unroll]] for (int s = 0; s < TILE_S; ++s) {
      vec4 w = load_w(k, first_quad + s, grid_width);
      [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] += load_x(x_row[i] + k) * w;
    }
#endif

  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    if (first_quad + s < quads)
      [[unroll]] for (int i = 0; i < TILE_P; ++i)
        if (first_row + i < rows) store_y((first_row + i) * quads + first_quad + s, activate(scaled(s, sum[s][i])));
}
