// Convolution whose groups are not whole slices: each output channel multiplies only the inputs of its own
// group.
//
// A block is the smallest number of groups that begins and ends at slices: INPUT_SLICES slices of inputs,
// TILE_S of outputs. The texel and the element that an output channel multiplies are then compile-time
// constants, so selecting them costs nothing. Weights are as in conv_tile.glsl, except that a column is one
// of the GROUP_INPUTS inputs of the channel's own group.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#define NARROW_ROWS  // a row of weights is the inputs of one group
#include "conv_window.glsl"

vec4 x[INPUT_SLICES][TILE_P];

// The input channel of a block that is input j of the group of output channel c.
#define INPUT_OF_(c, j) ((c) / GROUP_OUTPUTS * GROUP_INPUTS + (j))
#define ELEMENT_(i, c) x[(c) >> 2][i][(c) & 3]

// `row`: the weights' row of the first output slice.
void add_products_of_groups(int row, int row_step) {
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int j = 0; j < GROUP_INPUTS; ++j) {
      vec4 w = load_w(j, row + s * row_step, GROUP_INPUTS);
      [[unroll]] for (int i = 0; i < TILE_P; ++i)
        sum[s][i] += w * vec4(ELEMENT_(i, INPUT_OF_(4 * s, j)), ELEMENT_(i, INPUT_OF_(4 * s + 1, j)),
                                         ELEMENT_(i, INPUT_OF_(4 * s + 2, j)), ELEMENT_(i, INPUT_OF_(4 * s + 3, j)));
    }
}

void main() {
  ivec4 first = first_texel();
  if (first.w >= y_shape.w) return;
  int taps = kernel_size.x * kernel_size.y, padded_slices = TILE_S * blocks_of_slices();
  start_with_bias(first.z, padded_slices * taps, padded_slices, GROUP_INPUTS);

  // The last block may have fewer groups.
  int first_input = first.z / TILE_S * INPUT_SLICES, last_input = slices(x_shape.z) - 1;
  ivec2 origin = first.xy * stride - padding;
  for (int ky = 0; ky < kernel_size.y; ++ky) {
    int iy = origin.y + ky * dilation.y;
    if (iy < 0 || iy >= x_shape.y) continue;
    int row = first.z * taps + ky * kernel_size.x;
#if KERNEL_X > 0
    locate_columns(origin.x, 1);
    vec4 columns[INPUT_SLICES][COLUMNS];
    [[unroll]] for (int k = 0; k < INPUT_SLICES; ++k)
      [[unroll]] for (int i = 0; i < COLUMNS; ++i)
        columns[k][i] = load_column(i, address_of_x(ivec4(column[i], iy, min(first_input + k, last_input), first.w)));
    [[unroll]] for (int kx = 0; kx < KERNEL_X; ++kx) {
      [[unroll]] for (int k = 0; k < INPUT_SLICES; ++k)
        [[unroll]] for (int i = 0; i < TILE_P; ++i) x[k][i] = columns[k][i * STRIDE_X + kx];
      add_products_of_groups(row + kx, taps);
    }
#else
    for (int kx = 0; kx < kernel_size.x; ++kx) {
      locate_columns(origin.x + kx * dilation.x, stride.x);
      [[unroll]] for (int k = 0; k < INPUT_SLICES; ++k)
        [[unroll]] for (int i = 0; i < TILE_P; ++i)
          x[k][i] = load_column(i, address_of_x(ivec4(column[i], iy, min(first_input + k, last_input), first.w)));
      add_products_of_groups(row + kx, taps);
    }
#endif
  }
  store_tile(first, taps, GROUP_INPUTS);
}
