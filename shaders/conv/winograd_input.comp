// The first of three steps of a Winograd convolution (winograd.glsl): V = B^T d B of each tile d of input pixels; tiles
// overlap by two.
//
// An invocation transforms one slice of one tile. v has a column for each tile, and a row for each element of the transformed
// tile.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "winograd_input.h"
#include "tensor.glsl"
#include "divide.glsl"
#include "winograd.glsl"

TENSOR_IN(x)
TENSOR_OUT(v)

vec4 load_pixel(ivec2 at, int slice, int n) {
  vec4 pixel = load_x(ivec4(clamp(at, ivec2(0), x_shape.xy - 1), slice, n));
  return all(greaterThanEqual(at, ivec2(0))) && all(lessThan(at, x_shape.xy)) ? pixel : vec4(0);
}

void main() {
  TilePosition position = locate_tile(flat_index(), v_shape.x, tiles);
  if (position.slice >= slices(x_shape.z)) return;
  vec4 columns[SPAN][SPAN];
  [[unroll]] for (int j = 0; j < SPAN; ++j) {
    vec4 d[SPAN];
    [[unroll]] for (int i = 0; i < SPAN; ++i)
      d[i] = load_pixel(position.pixel - padding + ivec2(j, i), position.slice, position.n);
    transform_input(d, columns[j]);
  }
  [[unroll]] for (int i = 0; i < SPAN; ++i) {
    vec4 d[SPAN], row[SPAN];
    [[unroll]] for (int j = 0; j < SPAN; ++j) d[j] = columns[j][i];
    transform_input(d, row);
    [[unroll]] for (int j = 0; j < SPAN; ++j) store_v(ivec4(position.tile, SPAN * i + j, position.slice, 0), row[j]);
  }
}
