// The tile that one invocation of a convolution computes: TILE_P pixels times TILE_S slices of four output channels.
//
// The weights w are a grid of texels (kernels/conv/weights.hpp): row = output slice * taps + tap, column =
// input channel. A texel holds the weights of four output channels. After the last row of weights there is
// one texel of bias for each output slice, in row-major order. Include this file after TEXELS_IN(w).
//
// With HALF_PRODUCTS factors are halves, and a run of products is accumulated in fp16: the products of
// HALF_PRODUCTS input slices, or of one slice and the taps of a row. Each such partial sum is then added to
// an fp32 accumulator. Weights are scaled so that no run overflows (kernels/conv/product_run.hpp). The texels
// after the bias hold the scale of the runs of each output slice, as the product of two powers of two.
//
// With SCALE_LAST the sums start at zero, and finished() scales the results and adds the bias at the end, so
// that no registers hold the scale in the loop.
//
// With BYTE_WEIGHTS, weights are integers in bytes (Q8, with a step of 1). The accumulator holds the sum
// divided by the scale of its output channel, and so does the bias; results are multiplied by the scale. The
// texels after the weights are words: four of bias for each output slice, then four of scale for each.
//
// With NIBBLES a texel holds the weights of two input channels as integers of 4 bits: those of the even channel
// in the low halves of its bytes. With WEIGHT_BLOCK, a number of input slices, weights have a scale for each
// output channel and block of so many slices, and with BLOCK_ZEROS a zero point: one word for four output
// channels. They are in the order of the rows of the grid, with BLOCKS_OF_SLICES of the output slices, and
// follow the biases, which are not divided by a scale. NARROW_ROWS: rows are not whole groups of four texels.
//
// With INTEGER_SUMS sums may have more bits than a float: partial sums over INTEGER_SUMS input slices, or over
// one slice and the taps of a row, are accumulated as integers.
//
// With DOT_PRODUCTS (dot_products.glsl) x and weights are words of four bytes, and sums are integers. A word of the grid holds the
// weights of four input channels for one output channel, as signed bytes: the four words of an input slice are those of the four
// output channels. The last words after the weights are the sums of the weights of each output channel. With OFFSET_WEIGHTS the
// bytes are weights less a number, because the weights exceed signed bytes.
//
// scaled_sums.glsl explains SUM_SCALE, X_IN_STEPS, X_OF_16_BITS and FIXED_POINT, and tile_broadcast.glsl BROADCAST.

// CHANNELS: the channels of an input slice; fewer than four if the only slice has fewer.
#ifndef CHANNELS
#define CHANNELS 4
#endif

#include "fixed_point.glsl"
#include "residual.glsl"

#if defined(DOT_PRODUCTS) || defined(X_OF_16_BITS)
#define SUMS ivec4
#else
#define SUMS vec4
#endif
SUMS sum[TILE_S][TILE_P];
#ifdef INTEGER_SUMS
ivec4 integer_sum[TILE_S][TILE_P];
#endif

#include "scaled_sums.glsl"

#ifndef X_OF_16_BITS
// Returns sum[s][i], scaled, where s is the counter of a loop that is not unrolled. Storing results is half of
// the code; compiling it once for all slices saves a fifth of LLVM's compile time.
vec4 bare_sum_of(int s, int i) {
#ifdef INTEGER_SUMS
  ivec4 v = integer_sum[0][i];
  [[unroll]] for (int t = 1; t < TILE_S; ++t) v = s == t ? integer_sum[t][i] : v;
#else
  SUMS v = sum[0][i];
  [[unroll]] for (int t = 1; t < TILE_S; ++t) v = s == t ? sum[t][i] : v;
#endif
#if defined(FIXED_POINT) || (defined(BIAS_IN_STEPS) && defined(INTEGER_SUMS)) || defined(DOT_PRODUCTS)
  return scaled(s, ivec4(v));
#else
  return scaled(s, vec4(v));
#endif
}
#endif
// Returns sum[s][i], scaled, with the residual at p.
vec4 sum_of(int s, int i, ivec4 p) { return with_residual(bare_sum_of(s, i), p); }

#ifdef BYTE_WEIGHTS
// Returns the four words of texel i after the weights. All four are in one row, unless NARROW_ROWS says that rows are no whole
// slices.
uvec4 load_words(int i, int bias_row, int grid_width) {
  uvec4 words;
#ifdef NARROW_ROWS
  [[unroll]] for (int c = 0; c < 4; ++c) {
    ivec2 at = divide(4 * i + c, grid_width);
    words[c] = load_word_w(at.y, bias_row + at.x, grid_width);
  }
  return words;
#endif
  ivec2 at = divide(4 * i, grid_width);
  [[unroll]] for (int c = 0; c < 4; ++c) words[c] = load_word_w(at.y + c, bias_row + at.x, grid_width);
  return words;
}
#endif

#if defined(NIBBLES)
#define TEXEL_CHANNELS 2  // input channels of a texel
#else
#define TEXEL_CHANNELS 1
#endif

// Returns texel i after the weights: a bias or a scale.
vec4 load_bias_or_scale(int i, int bias_row, int grid_width) {
#ifdef BYTE_WEIGHTS
  return uintBitsToFloat(load_words(i, bias_row, grid_width));
#else
  ivec2 at = divide(i, grid_width);
  return load_w(at.y, bias_row + at.x, grid_width);
#endif
}

#ifdef HALF_PRODUCTS

#define FACTORS f16vec4
#define LOAD_X load_half_x
#define LOAD_W load_half_w
#define LOAD_IN_ROW_W load_half_in_row_w
#define PRODUCT_SUM run_sum
HALVES_OF_TEXELS(w)
f16vec4 run_sum[TILE_S][TILE_P];
vec4 run_scale[TILE_S];

void end_run() {
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) {
#ifdef SCALE_LAST
      sum[s][i] += vec4(run_sum[s][i]);
#else
      sum[s][i] += run_scale[s] * vec4(run_sum[s][i]);
#endif
      run_sum[s][i] = f16vec4(0);
    }
}
// A loop over runs of input slices, each from `run` to `run`_end. `begin` is a multiple of the length of a run.
#define FOR_EACH_RUN(run, begin, end)                          \
  for (int run = begin; run < end; run += HALF_PRODUCTS) {     \
    int CAT(run, _end) = min(run + HALF_PRODUCTS, end);
#define END_EACH_RUN end_run(); }

#elif defined(DOT_PRODUCTS)

#define FACTORS uint
WORDS_IN_ROWS(w)
#ifdef OFFSET_WEIGHTS
int x_sum[TILE_P];  // the sums of the bytes of x
#endif
void end_run() {}
#define FOR_EACH_RUN(run, begin, end) { const int run = begin, CAT(run, _end) = end;
#define END_EACH_RUN }

#else

#define FACTORS vec4
#define LOAD_X load_x
#define LOAD_W load_w
#define LOAD_IN_ROW_W load_in_row_w
#define PRODUCT_SUM sum
#ifdef WEIGHT_BLOCK
void end_run() {}
// `begin` may be within a block.
#define FOR_EACH_RUN(run, begin, end)                                              \
  for (int run = begin, CAT(run, _end); run < end; run = CAT(run, _end)) {         \
    CAT(run, _end) = min((run / WEIGHT_BLOCK + 1) * WEIGHT_BLOCK, end);
#define END_EACH_RUN }
#elif defined(INTEGER_SUMS)
void end_run() {
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) {
#ifdef X_OF_16_BITS
      integer_sum[s][i] += sum[s][i] >> 8;
      sum[s][i] &= 255;
#else
      integer_sum[s][i] += ivec4(sum[s][i]);
      sum[s][i] = vec4(0);
#endif
    }
}
#define FOR_EACH_RUN(run, begin, end)                          \
  for (int run = begin; run < end; run += INTEGER_SUMS) {      \
    int CAT(run, _end) = min(run + INTEGER_SUMS, end);
#define END_EACH_RUN end_run(); }
#else
void end_run() {}
#define FOR_EACH_RUN(run, begin, end) { const int run = begin, CAT(run, _end) = end;
#define END_EACH_RUN }
#endif

#endif
// A loop over input slices in runs.
#define FOR_EACH_SLICE(k, begin, end) \
  FOR_EACH_RUN(CAT(k, _run), begin, end) for (int k = CAT(k, _run); k < CAT(CAT(k, _run), _end); ++k)
#define END_EACH_SLICE END_EACH_RUN

// Initialises the sums of output slice s. `scale`: the scale of its runs, with HALF_PRODUCTS.
void start_sums(const int s, vec4 bias, vec4 scale) {
#if defined(SUM_SCALE) || (defined(DOT_PRODUCTS) && !defined(FIXED_POINT))
  channel_bias[s] = bias;
  bias = vec4(0);
#endif
#ifdef X_IN_STEPS
  x_grid.x = 1.0;
#endif
  [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] = SUMS(bias);
#ifdef INTEGER_SUMS
  [[unroll]] for (int i = 0; i < TILE_P; ++i) integer_sum[s][i] = ivec4(0);
#endif
#ifdef HALF_PRODUCTS
  run_scale[s] = scale;
  [[unroll]] for (int i = 0; i < TILE_P; ++i) run_sum[s][i] = f16vec4(0);
#endif
}

// Returns the scale of the runs of an output slice.
vec4 scale_of_runs(int slice, int bias_row, int padded_slices, int grid_width) {
  return load_bias_or_scale(slice + padded_slices, bias_row, grid_width) *
         load_bias_or_scale(slice + 2 * padded_slices, bias_row, grid_width);
}

// Initialises all sums with the bias. `padded_slices`: the output slices of the grid of weights, with the padding
// after the last.
void start_with_bias(int first_slice, int bias_row, int padded_slices, int grid_width) {
#ifdef SCALE_LAST
  [[unroll]] for (int s = 0; s < TILE_S; ++s) start_sums(s, vec4(0), vec4(0));
  return;
#endif
#ifdef WEIGHT_BLOCK
  words_row = bias_row;
  words_slices = padded_slices;
  words_width = grid_width;
#endif
  [[unroll]] for (int s = 0; s < TILE_S; ++s) {
#ifdef FIXED_POINT
    int word = first_slice + s;
    channel_bias[s] = ivec4(load_words(word, bias_row, grid_width));
    channel_multiplier[s] = ivec4(load_words(word + padded_slices, bias_row, grid_width));
    channel_shift[s] = ivec4(load_words(word + 2 * padded_slices, bias_row, grid_width));
#ifdef X_OF_16_BITS
    channel_bias_high[s] = ivec4(load_words(word + 3 * padded_slices, bias_row, grid_width));
#endif
    start_sums(s, vec4(0), vec4(1));
#else
    vec4 bias = load_bias_or_scale(first_slice + s, bias_row, grid_width), scale = vec4(1);
#ifdef HALF_PRODUCTS
    scale = scale_of_runs(first_slice + s, bias_row, padded_slices, grid_width);
#endif
    start_sums(s, bias, scale);
#if defined(BYTE_WEIGHTS) && !defined(WEIGHT_BLOCK)
    channel_scale[s] = load_bias_or_scale(first_slice + s + padded_slices, bias_row, grid_width);
#ifdef SUM_SCALE
    complete_scale(s);
#endif
#endif
#endif
#ifdef DOT_PRODUCTS
    // The zero point of x times the sum of the weights is part of each sum of products.
    ivec4 weights = ivec4(load_words(first_slice + s + CHANNEL_WORDS * padded_slices, bias_row, grid_width));
    [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] = -word_zero_x() * weights;
#endif
  }
#ifdef OFFSET_WEIGHTS
  [[unroll]] for (int i = 0; i < TILE_P; ++i) x_sum[i] = 0;
#endif
}

// Returns the final value of a sum of an output slice, without residual and activation.
vec4 finished(vec4 v, int slice, int bias_row, int padded_slices, int grid_width) {
#ifdef SCALE_LAST
  return load_bias_or_scale(slice, bias_row, grid_width) + scale_of_runs(slice, bias_row, padded_slices, grid_width) * v;
#else
  return v;
#endif
}

#if defined(NIBBLES) || defined(WEIGHT_BLOCK)
BYTES_OF_TEXELS(w)
#elif defined(BYTE_WEIGHTS) && CHANNELS == 4 && !defined(DOT_PRODUCTS)
FOURS_OF_TEXELS(w)
#endif
#ifdef WEIGHT_BLOCK
vec4 block_scale[TILE_S], block_zero[TILE_S];

// Loads the scales and zero points of the weights of input slice k. `row`, `row_step`: as in rows_of_slices().
void start_block(int k, int row, int row_step) {
  int blocks = (words_width * TEXEL_CHANNELS / 4 + WEIGHT_BLOCK - 1) / WEIGHT_BLOCK;
  [[unroll]] for (int s = 0; s < TILE_S; ++s) {
#ifdef BLOCKS_OF_SLICES
    int rows = words_slices, block_row = divide(row, row_step).x + s;
#else
    int rows = words_row, block_row = row + s * row_step;
#endif
    int block = block_row * blocks + k / WEIGHT_BLOCK;
    block_scale[s] = load_bias_or_scale(words_slices + block, words_row, words_width);
#ifdef BLOCK_ZEROS
    ivec2 at = divide(4 * (words_slices + rows * blocks) + block, words_width);
    block_zero[s] = vec4(load_bytes_in_row_w(at.y, row_of_w(words_row + at.x, words_width)));
#else
    block_zero[s] = vec4(w_grid.y);
#endif
  }
}
vec4 from_integers(const int s, vec4 integers) { return (integers - block_zero[s]) * block_scale[s]; }
#else
void start_block(int k, int row, int row_step) {}
#ifdef NIBBLES
vec4 from_integers(const int s, vec4 integers) { return integers - w_grid.y; }
#endif
#endif

#ifdef DOT_PRODUCTS
void add_products_of_rows(uint x[TILE_P], int column, int rows[TILE_S]) {
#ifdef OFFSET_WEIGHTS
  [[unroll]] for (int i = 0; i < TILE_P; ++i) x_sum[i] += dot_product(0x01010101u, x[i]);
#endif
  [[unroll]] for (int s = 0; s < TILE_S; ++s) {
    uvec4 w = load_words_in_row_w(column, rows[s]);
    [[unroll]] for (int i = 0; i < TILE_P; ++i)
      [[unroll]] for (int c = 0; c < 4; ++c) sum[s][i][c] += dot_product(w[c], x[i]);
  }
}
// Completes the sums after the last product.
void complete_sums() {
#ifdef OFFSET_WEIGHTS
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] += (128 - int(w_grid.y)) * x_sum[i];
#endif
}
#else
void complete_sums() {}

// Returns the weights of an input slice for output slice s. `column`: the slice's first input channel.
FACTORS[CHANNELS] weights_of_slice(const int s, int column, int row) {
  FACTORS w[CHANNELS];
#if defined(NIBBLES)
  [[unroll]] for (int c = 0; c < CHANNELS; c += 2) {
    uvec4 bytes = load_bytes_in_row_w((column + c) >> 1, row);
    w[c] = from_integers(s, vec4(bytes & 15u));
    if (c + 1 < CHANNELS) w[min(c + 1, CHANNELS - 1)] = from_integers(s, vec4(bytes >> 4u));
  }
#elif defined(WEIGHT_BLOCK)
  [[unroll]] for (int c = 0; c < CHANNELS; ++c) w[c] = from_integers(s, vec4(load_bytes_in_row_w(column + c, row)));
#elif defined(BYTE_WEIGHTS) && CHANNELS == 4
  w = load_four_in_row_w(column, row);
#else
  [[unroll]] for (int c = 0; c < CHANNELS; ++c) w[c] = LOAD_IN_ROW_W(column + c, row);
#endif
  return w;
}

#ifdef X_OF_16_BITS
#include "products_of_16_bits.glsl"
#else
// Adds the products of one input slice x of each pixel. `rows`: row_of_w() of each output slice.
void add_products_of_rows(FACTORS x[TILE_P], int column, int rows[TILE_S]) {
  [[unroll]] for (int s = 0; s < TILE_S; ++s) {
    FACTORS w[CHANNELS] = weights_of_slice(s, column, rows[s]);
    [[unroll]] for (int i = 0; i < TILE_P; ++i)
      [[unroll]] for (int c = 0; c < CHANNELS; ++c) PRODUCT_SUM[s][i] += x[i][c] * w[c];
  }
}
#endif
#endif

// Returns row_of_w() of each output slice. `row`: the first slice's row; `row_step`: rows from one slice to
// the next.
int[TILE_S] rows_of_slices(int row, int row_step, int grid_width) {
  int rows[TILE_S];
  [[unroll]] for (int s = 0; s < TILE_S; ++s) rows[s] = row_of_w(row + s * row_step, grid_width);
  return rows;
}

void add_products(FACTORS x[TILE_P], int column, int row, int row_step, int grid_width) {
  add_products_of_rows(x, column, rows_of_slices(row, row_step, grid_width));
}

// Return the index of this invocation's tile: tile_of_row() within the row of workgroups with the same slices
// (UNIFORM_SLICES), tile_index() among all tiles.
#ifdef PARTS
#include "split_k.glsl"
int tile_of_row() { return int(gl_WorkGroupID.x) * WORKGROUP_X + lane_of_row(); }
int tile_index() {
  return int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * WORKGROUP_X + lane_of_row();
}
#else
int tile_of_row() { return int(gl_GlobalInvocationID.x); }
int tile_index() { return flat_index(); }
#endif

// Returns (block of output slices, block of pixels) of this invocation; there are `blocks_p` blocks of pixels
// for each block of slices. Both may exceed the last block.
ivec2 block_of_invocation(int blocks_p) {
#ifdef BROADCAST
  int subgroup = int((gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_NumSubgroups + gl_SubgroupID);
  ivec2 block = divide(subgroup, (blocks_p + SUBGROUP - 1) / SUBGROUP);
  return ivec2(block.x, block.y * SUBGROUP + int(gl_SubgroupInvocationID));
#else
  return divide(tile_index(), blocks_p);
#endif
}

#ifdef BROADCAST
#include "tile_broadcast.glsl"
#endif
