// Products with integers of 16 bits (X_OF_16_BITS, scaled_sums.glsl), for conv_tile.glsl.
//
// Products, and the sum of four of them, are exact in floats. Sums are integers; with INTEGER_SUMS end_run() divides those of a
// run by 256, adds the quotient to integer_sum, and keeps the remainder.

// Returns the integers of x.
vec4 integers_of_x(vec4 x) { return roundEven(x * x_steps); }

// Adds the products of one input slice x of each pixel. `rows`: row_of_w() of each output slice.
void add_products_of_rows(vec4 x[TILE_P], int column, int rows[TILE_S]) {
  vec4 integers[TILE_P];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) integers[i] = integers_of_x(x[i]);
  [[unroll]] for (int s = 0; s < TILE_S; ++s) {
    vec4 w[CHANNELS] = weights_of_slice(s, column, rows[s]);
    [[unroll]] for (int i = 0; i < TILE_P; ++i) {
      vec4 products = integers[i][0] * w[0];
      [[unroll]] for (int c = 1; c < CHANNELS; ++c) products += integers[i][c] * w[c];
      sum[s][i] += ivec4(products);
    }
  }
}
