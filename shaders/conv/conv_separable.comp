// Depthwise separable convolution: a depthwise convolution with a square window (KERNEL x KERNEL taps,
// strides STRIDE_X and STRIDE_Y), and a 1x1 convolution of its result, which stays in shared memory.
//
// A workgroup computes WIDTH x HEIGHT pixels of y (powers of two, WIDTH at least 4) of some output slices in two steps:
//
//   1  the depthwise convolution of these pixels in all slices: an invocation computes four pixels of a row at a time
//   2  the 1x1 convolution: an invocation computes TILE_P pixels, in row order, of TILE_S slices
//
// In step 2 the workgroup's x runs over PIXEL_BLOCKS times the blocks of slices. Split-K: if there are few
// blocks, SPLIT_K invocations along y share each sum. Each multiplies some of the input slices, and their
// partial sums are reduced in the shared memory of step 1, MIDDLE_TEXELS texels of 16 bytes.
//
// With POOLED, step 1 is a max pool instead of the depthwise convolution.
//
// Filters are as in conv_depthwise.comp, weights w as in conv_tile.glsl. Values between the steps are rounded
// as the tensor that they replace would be; for a tensor of halves a texel of shared memory holds two pixels.
// With HALF_PRODUCTS step 2 multiplies halves; step 1 never does. The grid is (tiles of an image, blocks of
// output slices, images).
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef HALF_PRODUCTS
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif

#include "conv_separable.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

TENSOR_IN(x)
SLICES_OF_TENSOR(x)
#ifdef POOLED
#include "inf_nan.glsl"
#else
TEXELS_IN(filters)
#endif
TEXELS_IN(w)
TENSOR_OUT(y)
#include "epilogue.glsl"
#ifdef RESIDUAL
TENSOR_IN(residual)
#endif
#include "conv_tile.glsl"
#include "depthwise_filters.glsl"

const int TAPS = KERNEL * KERNEL;

#ifndef POOLED
#ifdef BYTE_FILTERS
BYTE_FILTERS_OF(filters)
#else
FILTERS_OF(filters)
#endif
#endif

const int FOURS_OF_ROW = WIDTH / 4, FOURS = FOURS_OF_ROW * HEIGHT;
const int COLUMNS = 3 * STRIDE_X + KERNEL;
const int INVOCATIONS = WORKGROUP_X * WORKGROUP_Y;

shared uvec4 middle_texels[MIDDLE_TEXELS];

#ifdef MIDDLE_HALVES
const int TEXELS_OF_SLICE = 2 * FOURS;
void store_middle(int slice, int four, vec4 v[4]) {
  int at = slice * TEXELS_OF_SLICE + 2 * four;
  middle_texels[at] = uvec4(pack_half4(v[0]), pack_half4(v[1]));
  middle_texels[at + 1] = uvec4(pack_half4(v[2]), pack_half4(v[3]));
}
// Returns pixel `first` + i. `first` must be even, so that compilers know which half of a texel to read.
uvec2 middle_bits(int slice, int first, const int i) {
  uvec4 pair = middle_texels[slice * TEXELS_OF_SLICE + (first >> 1) + i / 2];
  return i % 2 == 0 ? pair.xy : pair.zw;
}
#else
const int TEXELS_OF_SLICE = 4 * FOURS;
void store_middle(int slice, int four, vec4 v[4]) {
  [[unroll]] for (int i = 0; i < 4; ++i) middle_texels[slice * TEXELS_OF_SLICE + 4 * four + i] = floatBitsToUint(v[i]);
}
#endif

#ifdef HALF_PRODUCTS
FACTORS middle_pixel(int slice, int first, const int i) { return halves(middle_bits(slice, first, i)); }
#elif defined(MIDDLE_HALVES)
FACTORS middle_pixel(int slice, int first, const int i) { return unpack_half4(middle_bits(slice, first, i)); }
#else
FACTORS middle_pixel(int slice, int first, const int i) {
  return uintBitsToFloat(middle_texels[slice * TEXELS_OF_SLICE + first + i]);
}
#endif

vec4 activate_middle(vec4 v) {
  v = CAT(activation_, MIDDLE)(v);
#ifdef MIDDLE_SCALED
  v = middle_params.z * v + middle_params.w;
#endif
  return v;
}

#ifdef POOLED
// A NaN is kept.
vec4 larger(vec4 v, vec4 x) { return mix(mix(v, x, greaterThan(x, v)), x, is_nan(x)); }
#endif

// Filters four pixels, the first at `first`. All loads are before the first branch, so that they overlap.
void filter_four(int slice, int four, ivec2 first, int n) {
  ivec2 origin = first * ivec2(STRIDE_X, STRIDE_Y) - padding;
  int column[COLUMNS];
  bool inside[COLUMNS];
  [[unroll]] for (int i = 0; i < COLUMNS; ++i) {
    column[i] = clamp(origin.x + i, 0, x_shape.x - 1);
    inside[i] = column[i] == origin.x + i;
  }
  ADDRESS_TYPE(x) plane = address_of_x(ivec4(0, 0, slice, n));
  vec4 v[4];
#ifdef POOLED
  const vec4 padding_value = vec4(uintBitsToFloat(0xff800000u));  // -infinity
  [[unroll]] for (int i = 0; i < 4; ++i) v[i] = padding_value;
#else
  const vec4 padding_value = vec4(0);
  [[unroll]] for (int i = 0; i < 4; ++i) v[i] = bias_of_filters(slice);
#endif
  [[unroll]] for (int ky = 0; ky < KERNEL; ++ky) {
    int iy = clamp(origin.y + ky, 0, x_shape.y - 1);
    bool row_inside = iy == origin.y + ky;
    ADDRESS_TYPE(x) row = add_rows_x(plane, iy);
    vec4 x[COLUMNS];
    [[unroll]] for (int i = 0; i < COLUMNS; ++i) x[i] = fetch_x(add_columns_x(row, column[i]));
    [[unroll]] for (int i = 0; i < COLUMNS; ++i) x[i] = inside[i] && row_inside ? x[i] : padding_value;
    [[unroll]] for (int kx = 0; kx < KERNEL; ++kx) {
#ifdef POOLED
      [[unroll]] for (int i = 0; i < 4; ++i) v[i] = larger(v[i], x[i * STRIDE_X + kx]);
#else
      vec4 tap = tap_of_filters(ky * KERNEL + kx, slice);
      [[unroll]] for (int i = 0; i < 4; ++i) v[i] += x[i * STRIDE_X + kx] * tap;
#endif
    }
  }
#ifndef POOLED
  [[unroll]] for (int i = 0; i < 4; ++i) v[i] = finished_filters(v[i], slice);
#endif
  [[unroll]] for (int i = 0; i < 4; ++i) v[i] = keep_channels(activate_middle(v[i]), x_shape.z - 4 * slice);
  store_middle(slice, four, v);
}

void add_slice(int k, int first, int rows[TILE_S]) {
  FACTORS x[TILE_P];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) x[i] = middle_pixel(k, first, i);
  add_products_of_rows(x, 4 * k, rows);
}

void store_texel(int texel, vec4 v, int pixel, int first_output, ivec2 first, int n) {
  int at = pixel + texel % TILE_P;
  ivec4 p = ivec4(first + ivec2(at % WIDTH, at / WIDTH), first_output + texel / TILE_P, n);
  if (p.x < y_shape.x && p.y < y_shape.y && p.z < slices(y_shape.z))
    store_result(p, activate(with_residual(scaled(texel / TILE_P, v), p)));
}

void main() {
  int n = int(gl_WorkGroupID.z);
  ivec2 by_row = divide(int(gl_WorkGroupID.x), (y_shape.x + WIDTH - 1) / WIDTH);
  ivec2 first = ivec2(WIDTH, HEIGHT) * by_row.yx;
  int input_slices = slices(x_shape.z);

  activation_constants = middle_params;
  for (int item = int(gl_LocalInvocationIndex); item < input_slices * FOURS; item += INVOCATIONS) {
    int four = item % FOURS;
    filter_four(item / FOURS, four, first + ivec2(4 * (four % FOURS_OF_ROW), four / FOURS_OF_ROW), n);
  }
  activation_constants = activation_params;
  barrier();

  int column = int(gl_LocalInvocationID.x), split = int(gl_LocalInvocationID.y);
  int pixel = TILE_P * (column % PIXEL_BLOCKS);
  int blocks_s = (slices(y_shape.z) + TILE_S - 1) / TILE_S, grid_width = 4 / TEXEL_CHANNELS * input_slices;
  int first_output = TILE_S * (int(gl_WorkGroupID.y) * (WORKGROUP_X / PIXEL_BLOCKS) + column / PIXEL_BLOCKS);
  int first_weights = min(first_output, TILE_S * (blocks_s - 1));  // blocks beyond the last are not stored
  start_with_bias(first_weights, blocks_s * TILE_S, blocks_s * TILE_S, grid_width);

  int rows[TILE_S] = rows_of_slices(first_weights, 1, grid_width);
  int split_slices = (input_slices + SPLIT_K - 1) / SPLIT_K;
#ifdef HALF_PRODUCTS
  split_slices = (split_slices + HALF_PRODUCTS - 1) / HALF_PRODUCTS * HALF_PRODUCTS;  // whole runs
#endif
  int begin = min(split * split_slices, input_slices), end = min(begin + split_slices, input_slices);
#if SPLIT_K > 1
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] = split == 0 ? sum[s][i] : vec4(0);
#endif
  FOR_EACH_RUN(run, begin, end)
    int k = run;
    start_block(k, first_weights, 1);
    for (; k + AHEAD <= run_end; k += AHEAD)
      [[unroll]] for (int ahead = 0; ahead < AHEAD; ++ahead) add_slice(k + ahead, pixel, rows);
    for (; k < run_end; ++k) add_slice(k, pixel, rows);
  END_EACH_RUN

#if SPLIT_K > 1
  barrier();  // all invocations have read the filtered pixels
  int invocation = split * WORKGROUP_X + column;
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i)
      middle_texels[(s * TILE_P + i) * INVOCATIONS + invocation] = floatBitsToUint(sum[s][i]);
  barrier();
  [[dont_unroll]] for (int texel = split; texel < TILE_S * TILE_P; texel += SPLIT_K) {
    vec4 whole = vec4(0);
    for (int p = 0; p < SPLIT_K; ++p) whole += uintBitsToFloat(middle_texels[texel * INVOCATIONS + p * WORKGROUP_X + column]);
    store_texel(texel, whole, pixel, first_output, first, n);
  }
#else
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) store_texel(s * TILE_P + i, sum[s][i], pixel, first_output, first, n);
#endif
}
