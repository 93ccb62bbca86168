// A 1x1 convolution and a depthwise convolution of its result, which stays in shared memory: the first two
// layers of an inverted residual block. The window is square: KERNEL x KERNEL taps, strides STRIDE_X and
// STRIDE_Y.
//
// A workgroup computes a tile of TILE_S slices of y in two steps:
//
//   1  the 1x1 convolution of the pixels that the tile's windows cover, without the padding: an invocation computes TILE_P of
//      them at a time
//   2  the depthwise convolution of these pixels: an invocation computes FILTERED pixels of a row at a time
//
// Between the steps shared memory holds CAPACITY pixels of each slice, row by row. They are rounded as the
// tensor that they replace would be; for a tensor of halves a texel of shared memory holds two pixels. With
// HALF_PRODUCTS step 1 multiplies halves; step 2 never does. Pixels that neighbouring workgroups both need
// are computed by both. The weights w are as in conv_tile.glsl, the filters as in conv_depthwise.comp. The
// grid is (tiles of an image, blocks of slices, images), so that all invocations of a workgroup use the same
// weights.
//
// With MIDDLE_TABLE the rounded results of step 1 are looked up in the first 256 elements of `tables`. With LAST_TABLE the
// rounded results of step 2 are looked up in the next 256.
//
// With MEANS a workgroup also stores the sum of its results, as conv_depthwise_tile.comp does. With GATES the
// last workgroup computes the gates of squeeze-and-excitation from these sums (last_gates.glsl).
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef HALF_PRODUCTS
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif

#include "conv_expand.h"
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
TEXELS_IN(w)
TEXELS_IN(filters)
TENSOR_OUT(y)
int lane = int(gl_LocalInvocationID.x);
#ifdef MEANS
#ifdef GATES
#include "last_gates.glsl"
#else
#define means_shape ivec4(gl_NumWorkGroups.x, 1, y_shape.zw)
TENSOR_OUT(means)
void store_workgroup_mean(int workgroup, int workgroups, int slice, int n, vec4 v) {
  store_means(ivec4(workgroup, 0, slice, n), v);
}
#endif
shared vec4 lane_sums[WORKGROUP_X];
#endif
#include "conv_tile.glsl"

const int TAPS = KERNEL * KERNEL;
#include "depthwise_filters.glsl"
#ifdef BYTE_FILTERS
BYTE_FILTERS_OF(filters)
#else
FILTERS_OF(filters)
#endif

const int COLUMNS = (FILTERED - 1) * STRIDE_X + KERNEL;

#ifdef MIDDLE_HALVES
shared uvec2 middle_texels[TILE_S * CAPACITY];
void store_middle(int at, vec4 v) { middle_texels[at] = pack_half4(v); }
vec4 middle_pixel(int at) { return unpack_half4(middle_texels[at]); }
#else
shared vec4 middle_texels[TILE_S * CAPACITY];
void store_middle(int at, vec4 v) { middle_texels[at] = v; }
vec4 middle_pixel(int at) { return middle_texels[at]; }
#endif

#if defined(MIDDLE_TABLE) || defined(LAST_TABLE)
LINEAR_IN(tables)
LOOK_UP_FN(look_up_middle, load_tables, 0)
LOOK_UP_FN(look_up_last, load_tables, 256)
#endif

vec4 activate_middle(vec4 v) {
  v = CAT(activation_, MIDDLE)(v);
#ifdef MIDDLE_SCALED
  v = middle_params.z * v + middle_params.w;
#endif
#ifdef MIDDLE_TABLE
  v = look_up_middle(v);
#endif
  return v;
}

vec4 activate_last(vec4 v) {
#ifdef LAST_TABLE
  return look_up_last(activate(v));
#else
  return activate(v);
#endif
}

// The pixels of x that the workgroup multiplies: `size` pixels from `origin` on.
struct Region {
  ivec2 origin, size;
};

FACTORS[TILE_P] slice_of_pixels(inout ADDRESS_TYPE(x) address[TILE_P], inout ADDRESS_TYPE(x) running_offset) {
  FACTORS x[TILE_P];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) x[i] = FETCH_X(address[i] + running_offset);
  if (is_buffer_offset(running_offset))
    next_slice_of_x(running_offset);
  else
    [[unroll]] for (int i = 0; i < TILE_P; ++i) next_slice_of_x(address[i]);
  return x;
}

// Computes TILE_P pixels, from pixel `first` of the region on, in all slices of the workgroup.
void expand(int first, int pixels, Region region, int slice, int n) {
  int input_slices = slices(x_shape.z), grid_width = 4 / TEXEL_CHANNELS * input_slices;
  int padded_slices = (slices(y_shape.z) + TILE_S - 1) / TILE_S * TILE_S;
  ADDRESS_TYPE(x) address[TILE_P];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) {
    ivec2 at = divide(min(first + i, pixels - 1), region.size.x);
    address[i] = address_of_x(ivec4(region.origin + at.yx, 0, n));
  }
  start_with_bias(slice, padded_slices, padded_slices, grid_width);
  ADDRESS_TYPE(x) running_offset = ADDRESS_TYPE(x)(0);
  int rows[TILE_S] = rows_of_slices(slice, 1, grid_width);
  FOR_EACH_RUN(run, 0, input_slices)
    int k = run;
    start_block(k, slice, 1);
    EACH_COLUMN_OF(x, k < run_end) {
      for (; k + AHEAD <= run_end && in_column_of_x(address[0], AHEAD); k += AHEAD) {
        FACTORS x[AHEAD][TILE_P];
        [[unroll]] for (int ahead = 0; ahead < AHEAD; ++ahead) x[ahead] = slice_of_pixels(address, running_offset);
        [[unroll]] for (int ahead = 0; ahead < AHEAD; ++ahead) add_products_of_rows(x[ahead], 4 * (k + ahead), rows);
      }
      for (; k < run_end && in_column_of_x(address[0], 1); ++k)
        add_products_of_rows(slice_of_pixels(address, running_offset), 4 * k, rows);
      if (!in_column_of_x(address[0], 1))
        [[unroll]] for (int i = 0; i < TILE_P; ++i) next_column_of_x(address[i]);
    }
  END_EACH_RUN
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i)
      if (first + i < pixels) store_middle(s * CAPACITY + first + i, activate_middle(scaled(s, sum[s][i])));
}

// Filters FILTERED pixels of slice `first_slice` + s, beginning at `first`. Returns the sum of the stored
// results.
vec4 filter_pixels(const int s, int first_slice, ivec2 first, ivec2 end, Region region, int n) {
  int slice = first_slice + s;
  ivec2 origin = first * ivec2(STRIDE_X, STRIDE_Y) - padding - region.origin;
  int column[COLUMNS];
  bool inside[COLUMNS];
  [[unroll]] for (int i = 0; i < COLUMNS; ++i) {
    column[i] = clamp(origin.x + i, 0, region.size.x - 1);
    inside[i] = column[i] == origin.x + i;
  }
  vec4 v[FILTERED];
  [[unroll]] for (int i = 0; i < FILTERED; ++i) v[i] = bias_of_filters(slice);
  [[unroll]] for (int ky = 0; ky < KERNEL; ++ky) {
    int row = clamp(origin.y + ky, 0, region.size.y - 1);
    bool row_inside = row == origin.y + ky;
    vec4 x[COLUMNS];
    [[unroll]] for (int i = 0; i < COLUMNS; ++i) x[i] = middle_pixel(s * CAPACITY + row * region.size.x + column[i]);
    [[unroll]] for (int i = 0; i < COLUMNS; ++i) x[i] = inside[i] && row_inside ? x[i] : vec4(0);
    [[unroll]] for (int kx = 0; kx < KERNEL; ++kx) {
      vec4 tap = tap_of_filters(ky * KERNEL + kx, slice);
      [[unroll]] for (int i = 0; i < FILTERED; ++i) v[i] += x[i * STRIDE_X + kx] * tap;
    }
  }
  vec4 stored = vec4(0);
  [[unroll]] for (int i = 0; i < FILTERED; ++i) {
    ivec4 p = ivec4(first.x + i, first.y, slice, n);
    if (p.x < end.x) {
      vec4 result = keep_channels(activate_last(finished_filters(v[i], slice)), y_shape.z - 4 * slice);
      store_y(p, result);
      stored += result;
    }
  }
  return stored;
}

#ifdef MEANS
void store_mean(vec4 stored, int slice, int n) {
  lane_sums[lane] = stored;
  for (int lanes = WORKGROUP_X / 2; lanes > 0; lanes /= 2) {
    barrier();
    if (lane < lanes) lane_sums[lane] += lane_sums[lane + lanes];
  }
  int workgroups = int(gl_NumWorkGroups.x);
  if (lane == 0 && slice < slices(y_shape.z))
    store_workgroup_mean(int(gl_WorkGroupID.x), workgroups, slice, n,
                         lane_sums[0] * (float(workgroups) / float(y_shape.x * y_shape.y)));
  barrier();
}
#endif

void main() {
  int n = int(gl_WorkGroupID.z), first_slice = TILE_S * int(gl_WorkGroupID.y);
  ivec2 by_row = divide(int(gl_WorkGroupID.x), (y_shape.x + tile.x - 1) / tile.x);
  ivec2 begin = tile * by_row.yx, end = min(begin + tile, y_shape.xy), size = end - begin;

  ivec2 steps = ivec2(STRIDE_X, STRIDE_Y), origin = max(begin * steps - padding, ivec2(0));
  Region region = Region(origin, min((end - 1) * steps - padding + KERNEL, x_shape.xy) - origin);
  int pixels = region.size.x * region.size.y;
  activation_constants = middle_params;
  for (int first = TILE_P * lane; first < pixels; first += TILE_P * WORKGROUP_X)
    expand(first, pixels, region, first_slice, n);
  activation_constants = activation_params;
  barrier();

  int groups_of_row = (size.x + FILTERED - 1) / FILTERED;
  vec4 stored[TILE_S];
  [[unroll]] for (int s = 0; s < TILE_S; ++s) {
    stored[s] = vec4(0);
    if (first_slice + s < slices(y_shape.z))
      for (int group = lane; group < groups_of_row * size.y; group += WORKGROUP_X) {
        ivec2 at = divide(group, groups_of_row);
        stored[s] += filter_pixels(s, first_slice, begin + ivec2(FILTERED * at.y, at.x), end, region, n);
      }
  }
#ifdef MEANS
  [[unroll]] for (int s = 0; s < TILE_S; ++s) store_mean(stored[s], first_slice + s, n);
#endif
#ifdef GATES
  store_gates_if_last(int(gl_NumWorkGroups.x), int(gl_NumWorkGroups.x * gl_NumWorkGroups.y), n);
#endif
}
