// The second of three steps of a Winograd convolution (winograd.glsl): for each element of the transformed tiles, the sum
// over the input channels of the transformed input v times the transformed weights w.
//
// An invocation computes one element of TILE_P tiles. Weights are as in conv_tile.glsl, with the elements as taps. With AHEAD
// the texels of v of AHEAD slices are loaded together, before they are multiplied.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "winograd_product.h"
#include "tensor.glsl"
#include "divide.glsl"

TENSOR_IN(v)
#ifdef AHEAD
SLICES_OF_TENSOR(v)
#endif
TEXELS_IN(w)
TENSOR_OUT(m)

#include "conv_tile.glsl"

#ifdef AHEAD
// Loads a slice of each tile and advances to the next slice.
vec4[TILE_P] slice_of_tiles(inout ADDRESS_TYPE(v) at[TILE_P]) {
  vec4 x[TILE_P];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) {
    x[i] = fetch_v(at[i]);
    next_slice_of_v(at[i]);
  }
  return x;
}
#endif

void main() {
  int tiles = v_shape.x, elements = v_shape.y, output_slices = slices(m_shape.z);
  int blocks_t = (tiles + TILE_P - 1) / TILE_P;
  int blocks_s = (output_slices + TILE_S - 1) / TILE_S;
  ivec2 by_tile = divide(flat_index(), blocks_t);
  ivec2 by_element = divide(by_tile.x, elements);
  int first_output = TILE_S * by_element.x, element = by_element.y, first_tile = TILE_P * by_tile.y;
  if (by_element.x >= blocks_s) return;

  // Tiles after the last one repeat it and are not stored.
  int tile[TILE_P];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) tile[i] = min(first_tile + i, tiles - 1);
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] = vec4(0);
  int input_slices = slices(v_shape.z);
#ifdef AHEAD
  ADDRESS_TYPE(v) at[TILE_P];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) at[i] = address_of_v(ivec4(tile[i], element, 0, 0));
  int rows[TILE_S] = rows_of_slices(first_output * elements + element, elements, 4 * input_slices), k = 0;
  EACH_COLUMN_OF(v, k < input_slices) {
    for (; k + AHEAD <= input_slices && in_column_of_v(at[0], AHEAD); k += AHEAD) {
      vec4 x[AHEAD][TILE_P];
      [[unroll]] for (int ahead = 0; ahead < AHEAD; ++ahead) x[ahead] = slice_of_tiles(at);
      [[unroll]] for (int ahead = 0; ahead < AHEAD; ++ahead) add_products_of_rows(x[ahead], 4 * (k + ahead), rows);
    }
    for (; k < input_slices && in_column_of_v(at[0], 1); ++k) add_products_of_rows(slice_of_tiles(at), 4 * k, rows);
    if (!in_column_of_v(at[0], 1))
      [[unroll]] for (int i = 0; i < TILE_P; ++i) next_column_of_v(at[i]);
  }
#else
  for (int k = 0; k < input_slices; ++k) {
    vec4 x[TILE_P];
    [[unroll]] for (int i = 0; i < TILE_P; ++i) x[i] = load_v(ivec4(tile[i], element, k, 0));
    add_products(x, 4 * k, first_output * elements + element, elements, 4 * input_slices);
  }
#endif
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    if (first_output + s < output_slices)
      [[unroll]] for (int i = 0; i < TILE_P; ++i)
        if (first_tile + i < tiles) store_m(ivec4(first_tile + i, element, first_output + s, 0), sum[s][i]);
}
