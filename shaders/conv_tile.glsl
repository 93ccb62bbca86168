// The tile that one invocation of a convolution computes: TILE_P pixels times TILE_S slices of four output channels.
//
// The weights w are a grid of texels (kernels/conv_weights.hpp): row = output slice * taps + tap, column = input
// channel; a texel holds the weights of four output channels. Behind the last row of weights, in row-major order,
// one texel of bias per output slice.
// Include it after TEXELS_IN(..., w).

// CHANNELS: of an input slice; fewer than four where the one slice there is holds no more.
#ifndef CHANNELS
#define CHANNELS 4
#endif

vec4 sum[TILE_S][TILE_P];

void start_with_bias(int first_slice, int bias_row, int grid_width) {
  [[unroll]] for (int s = 0; s < TILE_S; ++s) {
    ivec2 at = divide(first_slice + s, grid_width);
    vec4 bias = load_w(at.y, bias_row + at.x, grid_width);
    [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] = bias;
  }
}

// Adds the products of one input slice x of each pixel. `row` is that of the first output slice; the next is
// `row_step` below.
void add_products(vec4 x[TILE_P], int column, int row, int row_step, int grid_width) {
  [[unroll]] for (int s = 0; s < TILE_S; ++s) {
    vec4 w[CHANNELS];
    [[unroll]] for (int c = 0; c < CHANNELS; ++c) w[c] = load_w(column + c, row + s * row_step, grid_width);
    [[unroll]] for (int i = 0; i < TILE_P; ++i)
      [[unroll]] for (int c = 0; c < CHANNELS; ++c) sum[s][i] += x[i][c] * w[c];
  }
}
