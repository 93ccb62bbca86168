// The last of three steps of a Winograd convolution (winograd.glsl): Y = A^T M A of each tile, plus bias, residual and
// activation.
//
// An invocation computes one slice of the pixels of a tile.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "winograd_output.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"
#include "winograd.glsl"

TENSOR_IN(m)
TEXELS_IN(w)
TENSOR_OUT(y)
#ifdef RESIDUAL
TENSOR_IN(residual)
#endif
#include "residual.glsl"

void main() {
  TilePosition position = locate_tile(flat_index(), m_shape.x, tiles);
  int slice = position.slice;
  if (slice >= slices(y_shape.z)) return;
  ivec2 bias_at = divide(slice, grid_width);
  vec4 bias = load_w(bias_at.y, bias_row + bias_at.x, grid_width);
  vec4 columns[SPAN][SIDE];
  [[unroll]] for (int j = 0; j < SPAN; ++j) {
    vec4 line[SPAN];
    [[unroll]] for (int i = 0; i < SPAN; ++i) line[i] = load_m(ivec4(position.tile, SPAN * i + j, slice, 0));
    transform_output(line, columns[j]);
  }
  [[unroll]] for (int i = 0; i < SIDE; ++i) {
    vec4 line[SPAN], row[SIDE];
    [[unroll]] for (int j = 0; j < SPAN; ++j) line[j] = columns[j][i];
    transform_output(line, row);
    [[unroll]] for (int j = 0; j < SIDE; ++j) {
      ivec4 p = ivec4(position.pixel + ivec2(j, i), slice, position.n);
      if (p.x < y_shape.x && p.y < y_shape.y) {
        store_y(p, activate(with_residual(row[j] + bias, p)));
      }
    }
  }
}
