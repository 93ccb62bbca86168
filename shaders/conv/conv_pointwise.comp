// 1x1 convolution of stride 1 without padding, or matrix product whose rows are pixels.
//
// An invocation computes TILE_P pixels, counted over columns, rows and batch.
//
// UNIFORM_SLICES: all invocations of a workgroup compute the same block of slices, gl_WorkGroupID.y.
// Compilers then recognise that the workgroup loads the same weights, and use scalar loads.
//
// PARTS: split-K over PARTS invocations of a workgroup (split_k.glsl).
//
// AHEAD: the texels of x of AHEAD slices are loaded together, before they are multiplied.
//
// RECOMPUTE_POSITIONS: the pixels' positions are computed again after the loop, so that no registers hold
// them in the loop.
//
// CONTIGUOUS: the pixels of a tile are contiguous in x, so that a single address suffices. Either x is a
// buffer of one image with at least TILE_P pixels, or the rows of its images are whole tiles or single rows.
// The last tile begins earlier instead of exceeding the pixels.
//
// FOUR_PIXELS: with CONTIGUOUS, tiles begin at multiples of four texels of x, and four are loaded at once.
//
// OTHER_PIXELS: x is a matrix whose rows are the pixels of y, or y is one whose rows are those of x (fuse_pixel_moves.hpp).
//
// NORM: the channels of each pixel are normalised (norm_of_pixels.glsl).
//
// MEAN: x is one image. A workgroup computes all pixels of its slices, and stores the mean of each channel
// instead of the pixels.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef BROADCAST
#extension GL_KHR_shader_subgroup_ballot : require
#elif defined(SUBGROUP)
#extension GL_KHR_shader_subgroup_basic : require
#endif
#ifdef HALF_PRODUCTS
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#ifdef DOT_PRODUCTS
#extension GL_EXT_spirv_intrinsics : require
#endif

#include "conv_pointwise.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

TENSOR_IN(x)
#ifdef HALF_PRODUCTS
HALF_SLICES_OF_TENSOR(x)
#define FETCH_X fetch_half_x
#else
SLICES_OF_TENSOR(x)
#ifdef DOT_PRODUCTS
#include "dot_products.glsl"
WORDS_OF_SLICES(x)
#define FETCH_X fetch_word_x
#else
#define FETCH_X fetch_x
#endif
#endif
#ifdef FOUR_PIXELS
#ifdef DOT_PRODUCTS
WORDS_OF_PIXELS(x)
#define FETCH_FOUR_X fetch_words_x
#define FOUR_FACTORS uvec4
#else
FOURS_OF_PIXELS(x)
#define FETCH_FOUR_X fetch_four_x
#define FOUR_FACTORS vec4[4]
#endif
#endif
TEXELS_IN(w)
TENSOR_OUT(y)
#include "epilogue.glsl"
#ifdef RESIDUAL
TENSOR_IN(residual)
#endif
#include "scale.glsl"

#include "conv_tile.glsl"
#include "range_of_results.glsl"
#include "norm_of_pixels.glsl"

// Loads slice `slice` of each pixel, at `address` plus the running offset `running_offset`, and advances to the next
// slice.
FACTORS[TILE_P] slice_of_pixels(inout ADDRESS_TYPE(x) address[TILE_P], inout ADDRESS_TYPE(x) running_offset,
                                ivec4 pixel[TILE_P], int slice) {
  FACTORS x[TILE_P];
#ifdef CONTIGUOUS
  ADDRESS_TYPE(x) first = address[0] + running_offset;
#ifdef FOUR_PIXELS
  [[unroll]] for (int i = 0; i < TILE_P; i += 4) {
    FOUR_FACTORS four = FETCH_FOUR_X(first + i);
    [[unroll]] for (int j = 0; j < 4; ++j) x[i + j] = four[j];
  }
#else
  [[unroll]] for (int i = 0; i < TILE_P; ++i) x[i] = FETCH_X(add_columns_x(first, i));
#endif
#else
  [[unroll]] for (int i = 0; i < TILE_P; ++i) x[i] = FETCH_X(address[i] + running_offset);
#endif
  if (is_buffer_offset(running_offset))
    next_slice_of_x(running_offset);
  else
    [[unroll]] for (int i = 0; i < TILE_P; ++i) next_slice_of_x(address[i]);
#if defined(SCALE_OF_IMAGES)
  [[unroll]] for (int i = 0; i < TILE_P; ++i) x[i] = FACTORS(scaled_x(vec4(x[i]), scale_of(slice, pixel[i].w)));
#elif defined(SCALE)
  vec4 scale = scale_of(slice, 0);
  [[unroll]] for (int i = 0; i < TILE_P; ++i) x[i] = FACTORS(scaled_x(vec4(x[i]), scale));
#endif
  return x;
}

void next_column(inout ADDRESS_TYPE(x) address[TILE_P]) {
  [[unroll]] for (int i = 0; i < TILE_P; ++i) next_column_of_x(address[i]);
}

// Returns whether this invocation, and no other, stores the pixel.
bool is_stored(int number, int tile, int pixels) {
#ifdef CONTIGUOUS
  return number >= TILE_P * tile;
#else
  return number < pixels;
#endif
}

ivec4 position_in(ivec4 shape, int number) {
  ivec2 row_column = divide(number, shape.x);
  ivec2 batch_row = divide(row_column.x, shape.y);
  return ivec4(row_column.y, batch_row.y, 0, batch_row.x);
}
ivec4 position_of_pixel(int number) { return position_in(x_shape, number); }
#ifdef OTHER_PIXELS
ivec4 position_of_result(int number) { return position_in(y_shape, number); }
#else
#define position_of_result position_of_pixel
#endif

#ifdef MEAN
const int INVOCATIONS = WORKGROUP_X * WORKGROUP_Y;
shared vec4 invocation_sums[INVOCATIONS];

// Stores the mean of a slice over all pixels. `stored`: the sum of this invocation's results. All invocations must call it.
void store_mean(vec4 stored, int slice, int pixels) {
  int invocation = int(gl_LocalInvocationIndex);
  barrier();
  invocation_sums[invocation] = stored;
  [[unroll]] for (int count = INVOCATIONS; count > 1; count = (count + 1) / 2) {
    barrier();
    int half_of_them = (count + 1) / 2;
    if (invocation + half_of_them < count) invocation_sums[invocation] += invocation_sums[invocation + half_of_them];
  }
  if (invocation == 0 && slice < slices(y_shape.z))
    store_y(ivec4(0, 0, slice, 0), mean_of(invocation_sums[0], float(pixels)));
}
#endif

void compute_results() {
  int W = x_shape.x, H = x_shape.y;
  int pixels = W * H * x_shape.w, output_slices = slices(y_shape.z);
  int blocks_p = (pixels + TILE_P - 1) / TILE_P;
  int blocks_s = (output_slices + TILE_S - 1) / TILE_S;
#ifdef UNIFORM_SLICES
  ivec2 block = ivec2(gl_WorkGroupID.y, tile_of_row());
#elif defined(NORM)
  int lane = int(gl_LocalInvocationID.x);
  ivec2 block = block_of_lane(lane);
#else
  ivec2 block = block_of_invocation(blocks_p);
#endif
  int first_output = TILE_S * block.x, first_pixel = TILE_P * block.y;
#ifdef CONTIGUOUS
  first_pixel = min(first_pixel, pixels - TILE_P);
#endif
#ifdef PARTS
  bool wanted = block.x < blocks_s && block.y < blocks_p;
  first_output = min(first_output, TILE_S * (blocks_s - 1));
#elif defined(MEAN) || defined(NORM)
  bool wanted = block.y < blocks_p;
#elif defined(UNIFORM_SLICES)
  if (block.y >= blocks_p) return;
#else
  // With BROADCAST all lanes of a subgroup continue, also lanes beyond the last pixel.
  if (block.x >= blocks_s) return;
#endif

  // Pixels after the last one repeat it and are not stored.
  ivec4 pixel[TILE_P];
  pixel[0] = position_of_pixel(min(first_pixel, pixels - 1));
  [[unroll]] for (int i = 1; i < TILE_P; ++i) {
    ivec4 p = pixel[i - 1];
    bool end_of_row = p.x == W - 1;
    bool end_of_image = end_of_row && p.y == H - 1;
    p.x = end_of_row ? 0 : p.x + 1;
    p.y = end_of_image ? 0 : p.y + int(end_of_row);
    p.w += int(end_of_image);
    pixel[i] = first_pixel + i < pixels ? p : pixel[i - 1];
  }

  ADDRESS_TYPE(x) address[TILE_P];
  int input_slices = slices(x_shape.z);
  int grid_width = 4 / TEXEL_CHANNELS * input_slices;
  start_with_bias(first_output, blocks_s * TILE_S, blocks_s * TILE_S, grid_width);
#ifdef PARTS
  ivec2 range = slices_of_split(input_slices);
#else
  ivec2 range = ivec2(0, input_slices);
#endif
  [[unroll]] for (int i = 0; i < TILE_P; ++i) address[i] = address_of_x(ivec4(pixel[i].xy, range.x, pixel[i].w));
  ADDRESS_TYPE(x) running_offset = ADDRESS_TYPE(x)(0);
  int rows[TILE_S] = rows_of_slices(first_output, 1, grid_width);
#ifdef BROADCAST
  for (int first = 0; first < input_slices; first += STEP) {
    load_shared_weights(first, first_output, 1, grid_width);
#define SLICE_OF_STEP(k)                                                         \
  if (first + k < input_slices) {                                                \
    vec4 x[TILE_P] = slice_of_pixels(address, running_offset, pixel, first + k); \
    if (begins_column_of_x(first + k + 1)) next_column(address);                 \
    ADD_SHARED_PRODUCTS(x, k)                                                    \
  }
    FOR_SLICES_OF_STEP(SLICE_OF_STEP)
  }
#else
  FOR_EACH_RUN(run, range.x, range.y)
    int k = run;
    start_block(k, first_output, 1);
    EACH_COLUMN_OF(x, k < run_end) {
#ifdef AHEAD
      for (; k + AHEAD <= run_end && in_column_of_x(address[0], AHEAD); k += AHEAD) {
        FACTORS x[AHEAD][TILE_P];
        [[unroll]] for (int ahead = 0; ahead < AHEAD; ++ahead)
          x[ahead] = slice_of_pixels(address, running_offset, pixel, k + ahead);
        [[unroll]] for (int ahead = 0; ahead < AHEAD; ++ahead)
          add_products_of_rows(x[ahead], 4 * (k + ahead), rows);
      }
#endif
      for (; k < run_end && in_column_of_x(address[0], 1); ++k)
        add_products_of_rows(slice_of_pixels(address, running_offset, pixel, k), 4 * k, rows);
      if (!in_column_of_x(address[0], 1)) next_column(address);
    }
  END_EACH_RUN
#endif
  complete_sums();

#ifdef MEAN
  vec4 stored[TILE_S];
  [[unroll]] for (int s = 0; s < TILE_S; ++s) stored[s] = vec4(0);
#ifdef PARTS
  share_partial_sums();
#endif
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) {
      bool counts = wanted && first_output + s < output_slices && is_stored(first_pixel + i, block.y, pixels);
#ifdef PARTS
      if (counts && (s * TILE_P + i) % PARTS == split_index()) {
        vec4 v = reduced_sum(s * TILE_P + i);
#else
      if (counts) {
        vec4 v = scaled(s, sum[s][i]);
#endif
        stored[s] += activate(with_residual(v, position_of_pixel(first_pixel + i) + ivec4(0, 0, first_output + s, 0)));
      }
    }
  [[unroll]] for (int s = 0; s < TILE_S; ++s) store_mean(stored[s], first_output + s, pixels);
#elif defined(NORM)
#ifdef PARTS
  share_partial_sums();
  [[dont_unroll]] for (int texel = split_index(); texel < TILE_S * TILE_P; texel += PARTS) {
    int s = texel / TILE_P, i = texel % TILE_P;
#else
  [[dont_unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) {
#endif
    int slice = first_output + s, number = first_pixel + i;
    if (wanted && slice < output_slices && is_stored(number, block.y, pixels)) {
      ivec4 p = position_of_result(number) + ivec4(0, 0, slice, 0);
#ifdef PARTS
      vec4 v = reduced_sum(texel);
#else
      vec4 v = bare_sum_of(s, i);
#endif
      put_in_row(lane, i, p, activate_layer(with_residual(v, p)));
    }
  }
  ivec2 row = row_of_invocation();
  vec2 statistics = statistics_of(row);
  int tile = workgroup_of_pixels() * NORM + row.x / TILE_P, number = TILE_P * tile;
#ifdef CONTIGUOUS
  number = min(number, pixels - TILE_P);
#endif
  number += row.x % TILE_P;
  if (has_row() && is_stored(number, tile, pixels)) store_row(row, statistics, position_of_result(number));
#elif defined(PARTS)
  share_partial_sums();
  [[dont_unroll]] for (int texel = split_index(); texel < TILE_S * TILE_P; texel += PARTS) {
    int slice = first_output + texel / TILE_P, number = first_pixel + texel % TILE_P;
    if (wanted && slice < output_slices && is_stored(number, block.y, pixels)) {
      ivec4 p = position_of_result(number) + ivec4(0, 0, slice, 0);
      store_result(p, activate(with_residual(reduced_sum(texel), p)));
    }
  }
#else
#if defined(RECOMPUTE_POSITIONS) || defined(OTHER_PIXELS)
  // W is positive, so that this is first_pixel. Compilers cannot know that, and so do not keep the positions
  // from before the loop.
  int again = first_pixel + min(W, 0);
  [[unroll]] for (int i = 0; i < TILE_P; ++i) pixel[i] = position_of_result(again + i);
#endif
  [[dont_unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i)
      if (first_output + s < output_slices && is_stored(first_pixel + i, block.y, pixels)) {
        ivec4 p = ivec4(pixel[i].xy, first_output + s, pixel[i].w);
        store_result(p, activate(sum_of(s, i, p)));
      }
#endif
}

#include "range_main.glsl"
