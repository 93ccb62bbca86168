// Transposed convolution by gathering: an output pixel sums the products of the taps that contribute to it.
//
// The TILE_P pixels of an invocation are one stride apart in a row, so that the same taps of neighbouring
// input pixels contribute to all of them. The pixels of neighbouring invocations are spaced alike, so that
// these invocations run the same loops. Groups and weights are as in conv.comp.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef HALF_PRODUCTS
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif

#include "conv_window.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

TENSOR_IN(x)
#ifdef HALF_PRODUCTS
HALVES_OF_TENSOR(x)
#endif
TEXELS_IN(w)
TENSOR_OUT(y)

#include "conv_tile.glsl"

// Returns the distance between two taps that contribute to the same pixel: stride / gcd(stride, dilation).
int tap_period(int stride_, int dilation_) {
  int a = stride_, b = dilation_;
  while (b != 0) {
    int rest = divide(a, b).y;
    a = b;
    b = rest;
  }
  return divide(stride_, a).x;
}

// Returns the first tap that contributes to the pixel at `origin`, or the number of taps.
int first_tap(int origin, int stride_, int dilation_, int count) {
  int k = 0;
  while (k < count && divide(origin - k * dilation_, stride_).y != 0) ++k;
  return k;
}

void main() {
  int output_slices = slices(y_shape.z);
  int blocks_s = (output_slices + TILE_S - 1) / TILE_S;
  // Pixels of one phase have the same remainder by the stride.
  ivec2 phases = min(stride, y_shape.xy);
  ivec2 pixels = (y_shape.xy + stride - 1) / stride;
  int blocks_x = (pixels.x + TILE_P - 1) / TILE_P;
  ivec2 by_block = divide(flat_index(), blocks_x);
  ivec2 by_row = divide(by_block.x, pixels.y);
  ivec2 by_phase_x = divide(by_row.x, phases.x);
  ivec2 by_phase_y = divide(by_phase_x.x, phases.y);
  ivec2 by_slice = divide(by_phase_y.x, blocks_s);
  int n = by_slice.x, first_output = TILE_S * by_slice.y;
  int ox = by_phase_x.y + stride.x * TILE_P * by_block.y, oy = by_phase_y.y + stride.y * by_row.y;
  if (n >= y_shape.w || oy >= y_shape.y) return;

  int taps = kernel_size.x * kernel_size.y;
  int grid_width = 4 / TEXEL_CHANNELS * window_slices;
  start_with_bias(first_output, blocks_s * TILE_S * taps, blocks_s * TILE_S, grid_width);

  int first_input = (divide(4 * first_output, group_outputs).x * group_inputs) >> 2;
  int window = min(window_slices, slices(x_shape.z) - first_input);
  // Tap k contributes to output o from input i if o + padding = i * stride + k * dilation. `lift` input pixels keep the
  // dividend positive.
  ivec2 lift = kernel_size * dilation;
  ivec2 origin = ivec2(ox, oy) + padding + lift * stride;
  ivec2 period = ivec2(tap_period(stride.x, dilation.x), tap_period(stride.y, dilation.y));
  ivec2 first = ivec2(first_tap(origin.x, stride.x, dilation.x, kernel_size.x),
                      first_tap(origin.y, stride.y, dilation.y, kernel_size.y));
  for (int ky = first.y; ky < kernel_size.y; ky += period.y) {
    int iy = divide(origin.y - ky * dilation.y, stride.y).x - lift.y;
    if (iy < 0 || iy >= x_shape.y) continue;
    for (int kx = first.x; kx < kernel_size.x; kx += period.x) {
      int ix = divide(origin.x - kx * dilation.x, stride.x).x - lift.x;
      int row = first_output * taps + ky * kernel_size.x + kx;
      FOR_EACH_RUN(run, 0, window)
      start_block(run, row, taps);
      for (int k = run; k < run_end; ++k) {
        FACTORS x[TILE_P];
        [[unroll]] for (int i = 0; i < TILE_P; ++i) {
          int column = ix + i;
          x[i] = LOAD_X(ivec4(clamp(column, 0, x_shape.x - 1), iy, first_input + k, n));
          if (column < 0 || column >= x_shape.x) x[i] = FACTORS(0);
        }
        add_products(x, 4 * k, row, taps, grid_width);
      }
      END_EACH_RUN
    }
  }

  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    if (first_output + s < output_slices)
      [[unroll]] for (int i = 0; i < TILE_P; ++i) {
        int column = ox + i * stride.x;
        if (column < y_shape.x) store_y(ivec4(column, oy, first_output + s, n), activate(bare_sum_of(s, i)));
      }
}
