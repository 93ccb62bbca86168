// A convolution without groups, or a matrix product, as a product of matrices: a row of A is a pixel, a column of B is an
// output channel, and the products are summed over the input channels of each tap, STEP_K channels at a time. A workgroup
// computes a block of the result. Weights are as in conv_tile.glsl. With TAPS_IN_STEP, for few channels, a step may contain
// slices of several taps.
//
// Before it includes this file a kernel defines
//   BLOCK_M, BLOCK_N   pixels and output channels of a workgroup
//   LOADS_A            loads of x of an invocation in a step
//   place_a(i)         the x of its result is the row of the block that load i fills

#include "conv_matrix.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

TENSOR_IN(x)
TEXELS_IN(w)
TENSOR_OUT(y)
#ifdef RESIDUAL
TENSOR_IN(residual)
#endif
#include "residual.glsl"
#include "scale.glsl"
#ifdef DOT_PRODUCTS  // sums are integers of bytes, four or more of which are multiplied at once
#define TILE_S 1
#include "fixed_point.glsl"
#include "scaled_sums.glsl"
#include "byte_words.glsl"
SLICES_OF_TENSOR(x)
WORDS_OF_SLICES(x)
#endif

int first_pixel, first_output;  // first pixel and first output slice of the workgroup
int pixels, input_slices, output_slices, taps;
int tap = 0, slice = 0;  // the next step begins at this slice of this tap
float slices_reciprocal, width_reciprocal;

ivec3 pixel_a[LOADS_A];  // for each of this invocation's loads of A: (x, y) of the first tap, batch
bool wanted_a[LOADS_A];

// Returns (x, y, batch) of an output pixel.
ivec3 pixel_at(int pixel) {
  ivec2 row_column = divide(pixel, y_shape.x);
  ivec2 batch_row = divide(row_column.x, y_shape.y);
  return ivec3(row_column.y, batch_row.y, batch_row.x);
}

// Returns false if the workgroup has no work.
bool start() {
  pixels = y_shape.x * y_shape.y * y_shape.w;
  input_slices = slices(x_shape.z);
  output_slices = slices(y_shape.z);
  taps = kernel_size.x * kernel_size.y;
  slices_reciprocal = 1.0 / float(input_slices);
  width_reciprocal = 1.0 / float(kernel_size.x);
  int blocks_m = (pixels + BLOCK_M - 1) / BLOCK_M;
  ivec2 block = divide(workgroup_index(), blocks_m);
  first_pixel = block.y * BLOCK_M;
  first_output = block.x * (BLOCK_N / 4);
  if (first_output >= output_slices) return false;
  [[unroll]] for (int i = 0; i < LOADS_A; ++i) {
    int pixel = first_pixel + place_a(i).x;
    wanted_a[i] = pixel < pixels;
    ivec3 at = pixel_at(min(pixel, pixels - 1));
    pixel_a[i] = ivec3(at.xy * stride - padding, at.z);
  }
  return true;
}

// Advances to the next tap after the last slice of a tap. Returns false after the last step.
bool begins_step() {
#ifdef TAPS_IN_STEP
  return slice < taps * input_slices;
#else
  if (slice >= input_slices) {
    slice = 0;
    ++tap;
  }
  return tap < taps;
#endif
}
// Returns (slice, tap) of slice `of_step` of this step. It may be beyond the last slice or tap.
ivec2 slice_and_tap(int of_step) {
#ifdef TAPS_IN_STEP
  int whole = slice + of_step, tap = quotient(whole, slices_reciprocal);
  return ivec2(whole - tap * input_slices, tap);
#else
  return ivec2(slice + of_step, tap);
#endif
}
ivec2 shift_of(int tap) {
  int row = quotient(tap, width_reciprocal);
  return ivec2(tap - row * kernel_size.x, row) * dilation;
}

// A texel to load. If the wanted texel is outside of x, `there` is one inside, and zeros replace it: loads in branches would
// wait for one another.
struct TexelOfX {
  ivec4 there;
  bool wanted;
  bool exists;  // false beyond the last slice or tap
};
// Returns the texel of slice `of_step` of this step for load i of A.
TexelOfX texel_of_x(int i, int of_step) {
  ivec2 at = slice_and_tap(of_step);
  ivec3 wanted = ivec3(pixel_a[i].xy + shift_of(at.y), at.x);
  ivec3 there = ivec3(clamp(wanted.xy, ivec2(0), x_shape.xy - 1), min(wanted.z, input_slices - 1));
  bool exists = at.x < input_slices && at.y < taps;
  return TexelOfX(ivec4(there, pixel_a[i].z), wanted_a[i] && there == wanted && exists, exists);
}
// Returns (channel, output slice, tap) of channel `of_step` of this step.
ivec3 texel_of_w(int of_step, int output_slice) {
  ivec2 at = slice_and_tap(of_step >> 2);
  return min(ivec3(4 * at.x + (of_step & 3), output_slice, at.y), ivec3(4 * input_slices, output_slices, taps) - 1);
}

#ifdef BYTE_WEIGHTS
#ifndef DOT_PRODUCTS
WORDS_OF_TEXELS(w)
#endif
// Returns four words after the weights: of an output slice its biases, from output_slices on its scales, and so on.
uvec4 words_after_weights(int i) {
  ivec2 at = divide(4 * i, 4 * input_slices);
  uvec4 words;
  [[unroll]] for (int c = 0; c < 4; ++c) words[c] = load_word_w(at.y + c, output_slices * taps + at.x, 4 * input_slices);
  return words;
}
#endif

// Returns the results of the sums of an output slice, with bias.
#if defined(DOT_PRODUCTS)
vec4 results_of(ivec4 v, int slice) {
#ifdef FIXED_POINT
  channel_bias[0] = ivec4(words_after_weights(slice));
  channel_multiplier[0] = ivec4(words_after_weights(slice + output_slices));
  channel_shift[0] = ivec4(words_after_weights(slice + 2 * output_slices));
#else
  channel_bias[0] = uintBitsToFloat(words_after_weights(slice));
  channel_scale[0] = uintBitsToFloat(words_after_weights(slice + output_slices));
#ifdef SUM_SCALE
  complete_scale(0);
#endif
#endif
  // The zero point of x times the sum of the weights is part of each sum of products.
  ivec4 weights = ivec4(words_after_weights(slice + CHANNEL_WORDS * output_slices));
  return scaled(0, v - word_zero_x() * weights);
}
#elif defined(BYTE_WEIGHTS)
vec4 results_of(vec4 v, int slice) {
  return (v + uintBitsToFloat(words_after_weights(slice))) * uintBitsToFloat(words_after_weights(slice + output_slices));
}
#else
vec4 results_of(vec4 v, int slice) {
  ivec2 bias_at = divide(slice, 4 * input_slices);
  return v + load_w(bias_at.y, output_slices * taps + bias_at.x, 4 * input_slices);
}
#endif

// Adds bias and residual to the four sums of a pixel, and stores them.
#ifndef SUMS
#define SUMS vec4
#endif
void finish(int row, int quad, SUMS v) {
  int pixel = first_pixel + row, slice = first_output + quad;
  if (pixel >= pixels || slice >= output_slices) return;
  ivec3 at = pixel_at(pixel);
  ivec4 p = ivec4(at.xy, slice, at.z);
  store_y(p, activate(with_residual(results_of(v, slice), p)));
}
