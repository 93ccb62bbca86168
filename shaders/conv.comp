// Convolution of any kernel size, stride, dilation, padding and group count.
//
// An invocation computes TILE_P neighbouring pixels of a row. Groups see a window of input slices that starts at
// their first one; what of the window belongs to other groups has zero weights. Where KERNEL_X is fixed (not 0;
// stride and dilation along x are 1 then), the columns of a row are loaded once for all its taps.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef HALF_PRODUCTS
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif

layout(push_constant) uniform Params {
  ivec4 x_shape;
  ivec4 y_shape;
  vec4 activation_params;
  ivec2 kernel_size;  // (width, height), like all pairs here
  ivec2 stride;
  ivec2 dilation;
  ivec2 padding;         // left, top
  ivec2 group_channels;  // (input, output) channels of a group
  int window_slices;
#ifdef RESIDUAL
  ivec4 residual_shape;  // that of y, perhaps with fewer channels
#endif
};

#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

TENSOR_IN(0, x)
#ifdef HALF_PRODUCTS
HALVES_OF_TENSOR(0, x)
#endif
TEXELS_IN(1, w)
TENSOR_OUT(2, y)
#ifdef RESIDUAL
TENSOR_IN(3, residual)
#endif

#include "conv_tile.glsl"

#if KERNEL_X > 0
const int COLUMNS = TILE_P - 1 + KERNEL_X;
#else
const int COLUMNS = TILE_P;
#endif
int column[COLUMNS];
bool inside[COLUMNS];

// The columns of x that the taps of one row multiply; those in the padding are zero.
void locate_columns(int first, int step) {
  [[unroll]] for (int i = 0; i < COLUMNS; ++i) {
    int at = first + i * step;
    inside[i] = at >= 0 && at < x_shape.x;
    column[i] = clamp(at, 0, x_shape.x - 1);
  }
}
// Without branches, whose results lavapipe reads from memory again at each use.
FACTORS load_column(int i, int row, int slice, int n) {
  FACTORS v = LOAD_X(ivec4(column[i], row, slice, n));
  return inside[i] ? v : FACTORS(0);
}

void main() {
  int output_slices = slices(y_shape.z);
  int blocks_x = (y_shape.x + TILE_P - 1) / TILE_P;
  int blocks_s = (output_slices + TILE_S - 1) / TILE_S;
  ivec2 by_column = divide(flat_index(), blocks_x);
  ivec2 by_row = divide(by_column.x, y_shape.y);
  ivec2 by_slice = divide(by_row.x, blocks_s);
  int n = by_slice.x, first_output = TILE_S * by_slice.y, oy = by_row.y, ox = TILE_P * by_column.y;
  if (n >= y_shape.w) return;

  int taps = kernel_size.x * kernel_size.y;
  int grid_width = 4 * window_slices;
  start_with_bias(first_output, blocks_s * TILE_S * taps, blocks_s * TILE_S, grid_width);

  int first_input = (divide(4 * first_output, group_channels.y).x * group_channels.x) >> 2;
  int window = min(window_slices, slices(x_shape.z) - first_input);
  ivec2 origin = ivec2(ox, oy) * stride - padding;
  for (int ky = 0; ky < kernel_size.y; ++ky) {
    int iy = origin.y + ky * dilation.y;
    if (iy < 0 || iy >= x_shape.y) continue;
#if KERNEL_X > 0
    locate_columns(origin.x, 1);
    int row = first_output * taps + ky * KERNEL_X;
    for (int k = 0; k < window; ++k) {
      FACTORS columns[COLUMNS];
      [[unroll]] for (int i = 0; i < COLUMNS; ++i) columns[i] = load_column(i, iy, first_input + k, n);
      [[unroll]] for (int kx = 0; kx < KERNEL_X; ++kx) {
        FACTORS x[TILE_P];
        [[unroll]] for (int i = 0; i < TILE_P; ++i) x[i] = columns[i + kx];
        add_products(x, 4 * k, row + kx, taps, grid_width);
      }
      end_run();
    }
#else
    for (int kx = 0; kx < kernel_size.x; ++kx) {
      locate_columns(origin.x + kx * dilation.x, stride.x);
      int row = first_output * taps + ky * kernel_size.x + kx;
#if CHANNELS < 4
      const int k = 0;  // the only slice there is: sums are dear to carry through another loop on CPUs
      {
#else
      FOR_EACH_SLICE(k, 0, window) {
#endif
        FACTORS x[TILE_P];
        [[unroll]] for (int i = 0; i < TILE_P; ++i) x[i] = load_column(i, iy, first_input + k, n);
        add_products(x, 4 * k, row, taps, grid_width);
      }
#if CHANNELS < 4
      end_run();
#else
      END_EACH_SLICE
#endif
    }
#endif
  }

  [[dont_unroll]] for (int s = 0; s < TILE_S; ++s)
    if (first_output + s < output_slices)
      [[unroll]] for (int i = 0; i < TILE_P; ++i) {
        ivec4 p = ivec4(ox + i, oy, first_output + s, n);
        if (p.x < y_shape.x) store_y(p, activate(sum_of(s, i, p)));
      }
}
