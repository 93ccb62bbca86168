// Depthwise convolution: every channel has a filter of its own.
//
// An invocation computes TILE_P neighbouring pixels of a row of one slice. Weights: row = slice, column = tap; bias in
// the column behind the last tap. Where KERNEL_X and STRIDE_X are fixed (not 0; dilation 1 then), the columns of
// a row are loaded once for all taps.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(push_constant) uniform Params {
  ivec4 x_shape;
  ivec4 y_shape;
  vec4 activation_params;
  ivec2 kernel_size;  // (width, height), like all pairs here
  ivec2 stride;
  ivec2 dilation;
  ivec2 padding;  // left, top
#ifdef RESIDUAL
  ivec4 residual_shape;  // that of y, perhaps with fewer channels
#endif
};

#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

TENSOR_IN(0, x)
TEXELS_IN(1, w)
TENSOR_OUT(2, y)
#ifdef RESIDUAL
TENSOR_IN(3, residual)
#endif
#include "residual.glsl"

vec4 load_column(int column, int row, int slice, int n) {
  vec4 v = load_x(ivec4(clamp(column, 0, x_shape.x - 1), row, slice, n));
  return column >= 0 && column < x_shape.x ? v : vec4(0);
}

void main() {
  int channel_slices = slices(y_shape.z);
  int blocks_x = (y_shape.x + TILE_P - 1) / TILE_P;
  ivec2 by_column = divide(flat_index(), blocks_x);
  ivec2 by_row = divide(by_column.x, y_shape.y);
  ivec2 by_slice = divide(by_row.x, channel_slices);
  int n = by_slice.x, slice = by_slice.y, oy = by_row.y, ox = TILE_P * by_column.y;
  if (n >= y_shape.w) return;

  int taps = kernel_size.x * kernel_size.y;
  vec4 sum[TILE_P];
  vec4 bias = load_w(taps, slice, taps + 1);
  [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[i] = bias;

  ivec2 origin = ivec2(ox, oy) * stride - padding;
  for (int ky = 0; ky < kernel_size.y; ++ky) {
    int iy = origin.y + ky * dilation.y;
    if (iy < 0 || iy >= x_shape.y) continue;
#if KERNEL_X > 0
    const int COLUMNS = (TILE_P - 1) * STRIDE_X + KERNEL_X;
    vec4 x[COLUMNS];
    [[unroll]] for (int i = 0; i < COLUMNS; ++i) x[i] = load_column(origin.x + i, iy, slice, n);
    [[unroll]] for (int kx = 0; kx < KERNEL_X; ++kx) {
      vec4 w = load_w(ky * KERNEL_X + kx, slice, taps + 1);
      [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[i] += x[i * STRIDE_X + kx] * w;
    }
#else
    for (int kx = 0; kx < kernel_size.x; ++kx) {
      vec4 w = load_w(ky * kernel_size.x + kx, slice, taps + 1);
      [[unroll]] for (int i = 0; i < TILE_P; ++i)
        sum[i] += load_column(origin.x + i * stride.x + kx * dilation.x, iy, slice, n) * w;
    }
#endif
  }

  [[unroll]] for (int i = 0; i < TILE_P; ++i) {
    ivec4 p = ivec4(ox + i, oy, slice, n);
    if (p.x < y_shape.x) store_y(p, activate(with_residual(sum[i], p)));
  }
}
