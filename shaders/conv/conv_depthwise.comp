// Depthwise convolution: every channel has its own filter.
//
// An invocation computes TILE_P neighbouring pixels of a row of one slice (TILE_S is 1).
//
// Weights are a grid of texels: row = slice, column = tap. After the last tap there is the bias. With
// HALF_PRODUCTS, whose runs are the taps of a row, two scales follow it (conv_tile.glsl). With BYTE_WEIGHTS
// there are four words of bias and four words of scale instead.
//
// With TAP_BOXES each channel multiplies a box of the window's taps only. The last four texels of a row of
// weights are the box of each channel: its first column, first row, last column and last row.
//
// With UNIFORM_SLICES all invocations of a workgroup compute the same slice of the same image: slice and image
// are the workgroup's y and z. If KERNEL_X and STRIDE_X are not 0, they are constants (and the dilation is 1),
// and the columns of a row are loaded once for all taps.
//
// FOUR_PIXELS: rows of x are whole groups of four texels, which are loaded at once. PADDING_X: the columns of padding before a
// row. The tile of columns begins SKIPPED texels after a multiple of four:
//
//   columns of x    0 1 2 3 | 4 5 6 7 | 8 9 10 11 | ...
//   of the tile           3   4 5 6 7   8 ...          PADDING_X 1, SKIPPED 3
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef HALF_PRODUCTS
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif

#include "conv_depthwise.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

TENSOR_IN(x)
#ifdef HALF_PRODUCTS
HALF_SLICES_OF_TENSOR(x)
#define FETCH_X fetch_half_x
#else
SLICES_OF_TENSOR(x)
#define FETCH_X fetch_x
#endif
#ifdef FOUR_PIXELS
FOURS_OF_PIXELS(x)
const int SKIPPED = (4 - PADDING_X % 4) % 4;
#endif
TEXELS_IN(w)
TENSOR_OUT(y)
#ifdef RESIDUAL
TENSOR_IN(residual)
#endif
#include "conv_tile.glsl"
#include "range_of_results.glsl"

// `row`: the address (texel_address.glsl) of column 0 in x.
FACTORS load_column(int column, bool inside, ADDRESS_TYPE(x) row) {
  FACTORS v = FETCH_X(add_columns_x(row, column));
  return inside ? v : FACTORS(0);
}

#ifdef HALF_PRODUCTS
const int TEXELS_AFTER_TAPS = 3;
#elif defined(BYTE_WEIGHTS)
#ifdef X_OF_16_BITS
const int TEXELS_AFTER_TAPS = 16;
#elif defined(FIXED_POINT)
const int TEXELS_AFTER_TAPS = 12;
#else
const int TEXELS_AFTER_TAPS = 8;
#endif
// Returns four words of a row of the grid.
uvec4 words_of_row(int column, int slice, int width) {
  uvec4 words;
  [[unroll]] for (int c = 0; c < 4; ++c) words[c] = load_word_w(column + c, slice, width);
  return words;
}
#else
const int TEXELS_AFTER_TAPS = 1;
#endif
#ifdef TAP_BOXES
const int BOX_TEXELS = 4;
vec4 first_column, first_row, last_column, last_row;

void load_boxes(int slice, int width) {
  first_column = load_w(width - 4, slice, width);
  first_row = load_w(width - 3, slice, width);
  last_column = load_w(width - 2, slice, width);
  last_row = load_w(width - 1, slice, width);
}
int least(vec4 v) { return int(min(min(v.x, v.y), min(v.z, v.w))); }
int most(vec4 v) { return int(max(max(v.x, v.y), max(v.z, v.w))); }
// Returns v in the channels whose box contains the tap, zero in the others. A product with zero would keep NaN.
FACTORS under_tap(FACTORS v, int kx, int ky) {
  vec4 columns_beyond = abs(clamp(vec4(kx), first_column, last_column) - kx);
  vec4 rows_beyond = abs(clamp(vec4(ky), first_row, last_row) - ky);
  return mix(FACTORS(0), v, equal(columns_beyond + rows_beyond, vec4(0)));
}
// The rows and columns of the boxes of all four channels.
#define FIRST_ROW least(first_row)
#define END_ROW (most(last_row) + 1)
#define FIRST_COLUMN least(first_column)
#define END_COLUMN (most(last_column) + 1)
#else
const int BOX_TEXELS = 0;
#define under_tap(v, kx, ky) v
#define FIRST_ROW 0
#define END_ROW kernel_size.y
#define FIRST_COLUMN 0
#define END_COLUMN kernel_size.x
#endif

#ifdef X_OF_16_BITS
#define ADD_PRODUCT(i, x, w) sum[0][i] += ivec4(integers_of_x(x) * w)
#else
#define ADD_PRODUCT(i, x, w) PRODUCT_SUM[0][i] += x * w
#endif

void compute_results() {
  int channel_slices = slices(y_shape.z);
  int blocks_x = (y_shape.x + TILE_P - 1) / TILE_P;
#ifdef UNIFORM_SLICES
  ivec2 by_column = divide(int(gl_GlobalInvocationID.x), blocks_x);
  ivec2 by_row = ivec2(0, by_column.x);
  ivec2 by_slice = ivec2(by_row.y < y_shape.y ? int(gl_WorkGroupID.z) : y_shape.w, gl_WorkGroupID.y);
#else
  ivec2 by_column = divide(flat_index(), blocks_x);
  ivec2 by_row = divide(by_column.x, y_shape.y);
  ivec2 by_slice = divide(by_row.x, channel_slices);
#endif
  int n = by_slice.x, slice = by_slice.y, oy = by_row.y, ox = TILE_P * by_column.y;
  if (n >= y_shape.w) return;

  int taps = kernel_size.x * kernel_size.y;
  int width = taps + TEXELS_AFTER_TAPS + BOX_TEXELS;
#ifdef TAP_BOXES
  load_boxes(slice, width);
#endif
#ifdef HALF_PRODUCTS
  vec4 scale = load_w(taps + 1, slice, width) * load_w(taps + 2, slice, width);
#else
  const vec4 scale = vec4(1);
#endif
#ifdef FIXED_POINT
  start_sums(0, vec4(0), scale);
  channel_bias[0] = ivec4(words_of_row(taps, slice, width));
  channel_multiplier[0] = ivec4(words_of_row(taps + 4, slice, width));
  channel_shift[0] = ivec4(words_of_row(taps + 8, slice, width));
#ifdef X_OF_16_BITS
  channel_bias_high[0] = ivec4(words_of_row(taps + 12, slice, width));
#endif
#elif defined(BYTE_WEIGHTS)
  start_sums(0, uintBitsToFloat(words_of_row(taps, slice, width)), scale);
  channel_scale[0] = uintBitsToFloat(words_of_row(taps + 4, slice, width));
#ifdef SUM_SCALE
  complete_scale(0);
#endif
#else
  start_sums(0, load_w(taps, slice, width), scale);
#endif

  ivec2 origin = ivec2(ox, oy) * stride - padding;
#if KERNEL_X > 0
  // The columns of x that a row of taps multiplies; columns in the padding are zero. They are computed here
  // because few compilers move them out of the loop.
  const int COLUMNS = (TILE_P - 1) * STRIDE_X + KERNEL_X;
  int column[COLUMNS];
  bool inside[COLUMNS];
  [[unroll]] for (int i = 0; i < COLUMNS; ++i) {
    column[i] = clamp(origin.x + i, 0, x_shape.x - 1);
    inside[i] = column[i] == origin.x + i;
  }
#ifdef FOUR_PIXELS
  // Four texels are either all in the row or all in the padding.
  const int GROUPS = (SKIPPED + COLUMNS + 3) / 4;
  int group[GROUPS];
  [[unroll]] for (int i = 0; i < GROUPS; ++i) group[i] = clamp(origin.x - SKIPPED + 4 * i, 0, x_shape.x - 4);
#endif
#endif
  // The row may be in the padding.
  ADDRESS_TYPE(x) row = address_of_x(ivec4(0, origin.y + FIRST_ROW * dilation.y, slice, n));
  for (int ky = FIRST_ROW; ky < END_ROW; ++ky, row = add_rows_x(row, dilation.y)) {
    int iy = origin.y + ky * dilation.y;
    if (iy < 0 || iy >= x_shape.y) continue;
#if KERNEL_X > 0
    FACTORS x[COLUMNS];
#ifdef FOUR_PIXELS
    vec4 texels[4 * GROUPS];
    [[unroll]] for (int i = 0; i < GROUPS; ++i) {
      vec4 four[4] = fetch_four_x(add_columns_x(row, group[i]));
      [[unroll]] for (int j = 0; j < 4; ++j) texels[4 * i + j] = four[j];
    }
    [[unroll]] for (int i = 0; i < COLUMNS; ++i) x[i] = inside[i] ? texels[SKIPPED + i] : vec4(0);
#else
    [[unroll]] for (int i = 0; i < COLUMNS; ++i) x[i] = load_column(column[i], inside[i], row);
#endif
    [[unroll]] for (int kx = 0; kx < KERNEL_X; ++kx) {
      FACTORS w = LOAD_W(ky * KERNEL_X + kx, slice, width);
      [[unroll]] for (int i = 0; i < TILE_P; ++i)
        ADD_PRODUCT(i, under_tap(x[i * STRIDE_X + kx], kx, ky), w);
    }
#else
    for (int kx = FIRST_COLUMN; kx < END_COLUMN; ++kx) {
      FACTORS w = LOAD_W(ky * kernel_size.x + kx, slice, width);
      [[unroll]] for (int i = 0; i < TILE_P; ++i) {
        int at = origin.x + i * stride.x + kx * dilation.x, column = clamp(at, 0, x_shape.x - 1);
        ADD_PRODUCT(i, under_tap(load_column(column, column == at, row), kx, ky), w);
      }
    }
#endif
    end_run();
  }

  [[unroll]] for (int i = 0; i < TILE_P; ++i) {
    ivec4 p = ivec4(ox + i, oy, slice, n);
    if (p.x < y_shape.x) store_y(p, activate(sum_of(0, i, p)));
  }
}

#include "range_main.glsl"
