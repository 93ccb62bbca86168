// Convolution of any kernel size, stride, dilation, padding and group count.
//
// The groups of a block of output slices see a window of input slices that starts with their first one; what of the
// window belongs to other groups has zero weights. Where the groups are not of whole slices, windows are not equally wide
// (UNEVEN_WINDOWS).
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef HALF_PRODUCTS
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif

#include "conv_window.glsl"

void main() {
  ivec4 first = first_texel();
  int n = first.w, first_output = first.z, oy = first.y, ox = first.x, blocks_s = blocks_of_slices();
  if (n >= y_shape.w) return;

  int taps = kernel_size.x * kernel_size.y;
  int grid_width = 4 * window_slices;
  start_with_bias(first_output, blocks_s * TILE_S * taps, blocks_s * TILE_S, grid_width);

  int first_input = (divide(4 * first_output, group_channels.y).x * group_channels.x) >> 2;
#ifdef UNEVEN_WINDOWS
  int last_group = divide(min(4 * (first_output + TILE_S), y_shape.z) - 1, group_channels.y).x;
  int window = slices((last_group + 1) * group_channels.x) - first_input;
#else
  int window = min(window_slices, slices(x_shape.z) - first_input);
#endif
#ifdef PARTS
  ivec2 part = divide(n, x_shape.w);  // (its number, image): y has those of each part one behind the other
  n = part.y;
  ivec2 range = slices_of_part(part.x, window);
#else
  ivec2 range = ivec2(0, window);
#endif
  ivec2 origin = ivec2(ox, oy) * stride - padding;
  for (int ky = 0; ky < kernel_size.y; ++ky) {
    int iy = origin.y + ky * dilation.y;
    if (iy < 0 || iy >= x_shape.y) continue;
#if KERNEL_X > 0
    locate_columns(origin.x, 1);
    int row = first_output * taps + ky * KERNEL_X;
    for (int k = range.x; k < range.y; ++k) {
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
      FOR_EACH_SLICE(k, range.x, range.y) {
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

  store_tile(first);
}
