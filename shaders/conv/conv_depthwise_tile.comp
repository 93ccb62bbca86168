// Depthwise convolution with a square window (KERNEL x KERNEL taps, strides STRIDE_X and STRIDE_Y) in which
// each loaded row of x is used for several rows of y.
//
// An invocation computes TILE_P pixels of TILE_Q rows of one slice. y has at least that size. The last tile
// of a row or column of tiles begins earlier, so that it ends with y; the overlap is stored once. Therefore
// only the outermost columns and rows that a tile reads can be padding, and only these are checked: LEFT and
// RIGHT columns, TOP and BOTTOM rows.
//
// Weights are those of conv_depthwise.comp. With HALF_PRODUCTS the products of a row of taps are summed in
// fp16, and each such sum is added to an fp32 sum. With UNIFORM_SLICES all invocations of a workgroup compute
// the same slice of the same image: slice and image are the workgroup's y and z.
//
// With MEANS a workgroup also stores the sum of its results, scaled so that the mean over all workgroups of a
// slice is the mean over its pixels. With GATES the last workgroup computes the gates of
// squeeze-and-excitation from these sums (last_gates.glsl).
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef HALF_PRODUCTS
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif

#include "conv_depthwise_tile.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

TENSOR_IN(x)
TEXELS_IN(w)
TENSOR_OUT(y)
ADDRESSES_OF_OUTPUT(y)
#ifdef MEANS
int lane = int(gl_LocalInvocationID.x);
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

void store_mean(vec4 stored, int slice, int n) {
  lane_sums[lane] = stored;
  for (int lanes = WORKGROUP_X / 2; lanes > 0; lanes /= 2) {
    barrier();
    if (lane < lanes) lane_sums[lane] += lane_sums[lane + lanes];
  }
  int workgroups = int(gl_NumWorkGroups.x);
  if (lane == 0)
    store_workgroup_mean(int(gl_WorkGroupID.x), workgroups, slice, n,
                         lane_sums[0] * (float(workgroups) / float(y_shape.x * y_shape.y)));
}
#endif
#ifdef RESIDUAL
TENSOR_IN(residual)
#endif
#include "residual.glsl"

const int TAPS = KERNEL * KERNEL;
#include "depthwise_filters.glsl"
const int COLUMNS = (TILE_P - 1) * STRIDE_X + KERNEL;
const int ROWS = (TILE_Q - 1) * STRIDE_Y + KERNEL;

#ifdef HALF_PRODUCTS
HALF_SLICES_OF_TENSOR(x)
HALVES_OF_TEXELS(w)
#define FACTORS f16vec4
#define FETCH_X fetch_half_x
const int WIDTH = TAPS + 3;
#define LOAD_TAP(tap, slice) load_half_w(tap, slice, WIDTH)
#else
SLICES_OF_TENSOR(x)
#define FACTORS vec4
#define FETCH_X fetch_x
#define LOAD_TAP tap_of_w
#ifdef BYTE_WEIGHTS
BYTE_FILTERS_OF(w)
#else
FILTERS_OF(w)
#endif
#endif

vec4 sum[TILE_Q][TILE_P];
#ifdef HALF_PRODUCTS
vec4 scale;  // of the fp16 partial sums
#endif

#ifdef HALF_PRODUCTS
vec4 finished(vec4 v, int slice) { return v; }
#else
vec4 finished(vec4 v, int slice) { return finished_w(v, slice); }
#endif

// Adds the products of a row of x with row ky of the window.
void add_row(FACTORS x[COLUMNS], FACTORS w[TAPS], const int ky, const int q) {
#ifdef HALF_PRODUCTS
  f16vec4 run_sum[TILE_P];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) run_sum[i] = f16vec4(0);
#define PRODUCT_SUM(i) run_sum[i]
#else
#define PRODUCT_SUM(i) sum[q][i]
#endif
  [[unroll]] for (int kx = 0; kx < KERNEL; ++kx)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) PRODUCT_SUM(i) += x[i * STRIDE_X + kx] * w[ky * KERNEL + kx];
#ifdef HALF_PRODUCTS
  [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[q][i] += scale * vec4(run_sum[i]);
#endif
}

void main() {
  int blocks_x = (y_shape.x + TILE_P - 1) / TILE_P, blocks_y = (y_shape.y + TILE_Q - 1) / TILE_Q;
#ifdef UNIFORM_SLICES
  ivec2 by_column = divide(int(gl_GlobalInvocationID.x), blocks_x);
  ivec2 by_row = ivec2(0, by_column.x);
#ifdef MEANS
  ivec2 by_slice = ivec2(gl_WorkGroupID.zy);  // invocations beyond the last row store nothing, but reach the barrier
#else
  ivec2 by_slice = ivec2(by_row.y < blocks_y ? int(gl_WorkGroupID.z) : y_shape.w, gl_WorkGroupID.y);
#endif
#else
  ivec2 by_column = divide(flat_index(), blocks_x);
  ivec2 by_row = divide(by_column.x, blocks_y);
  ivec2 by_slice = divide(by_row.x, slices(y_shape.z));
#endif
  int n = by_slice.x, slice = by_slice.y;
  if (n >= y_shape.w) return;
  // own: the first pixel that only this tile stores. first: the first pixel of this tile.
  ivec2 own = ivec2(TILE_P, TILE_Q) * ivec2(by_column.y, by_row.y);
  ivec2 first = min(own, y_shape.xy - ivec2(TILE_P, TILE_Q));
  ivec2 origin = first * ivec2(STRIDE_X, STRIDE_Y) - padding;

#ifdef HALF_PRODUCTS
  vec4 bias = load_w(TAPS, slice, WIDTH);
  scale = load_w(TAPS + 1, slice, WIDTH) * load_w(TAPS + 2, slice, WIDTH);
#else
  vec4 bias = bias_of_w(slice);
#endif
  FACTORS w[TAPS];
  [[unroll]] for (int q = 0; q < TILE_Q; ++q)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[q][i] = bias;

  // Columns relative to the first one.
  int column[COLUMNS];
  bool inside[COLUMNS];
  [[unroll]] for (int i = 0; i < COLUMNS; ++i) {
    column[i] = i < LEFT || i >= COLUMNS - RIGHT ? clamp(i, -origin.x, x_shape.x - 1 - origin.x) : i;
    inside[i] = column[i] == i;
  }
  ADDRESS_TYPE(x) address = address_of_x(ivec4(origin, slice, n));  // may be in the padding
  [[unroll]] for (int r = 0; r < ROWS; ++r) {
    // Weights are loaded when the first row of the tile needs them, because all of them would fill small
    // register files.
    if (r < KERNEL)
      [[unroll]] for (int kx = 0; kx < KERNEL; ++kx) w[r * KERNEL + kx] = LOAD_TAP(r * KERNEL + kx, slice);
    int y = origin.y + r;
    if ((r >= TOP && r < ROWS - BOTTOM) || (y >= 0 && y < x_shape.y)) {
      FACTORS x[COLUMNS];
      [[unroll]] for (int i = 0; i < COLUMNS; ++i) x[i] = FETCH_X(add_columns_x(add_rows_x(address, r), column[i]));
      [[unroll]] for (int i = 0; i < COLUMNS; ++i) x[i] = inside[i] ? x[i] : FACTORS(0);
      [[unroll]] for (int q = 0; q < TILE_Q; ++q) {
        int ky = r - q * STRIDE_Y;
        if (ky >= 0 && ky < KERNEL) add_row(x, w, ky, q);
      }
    }
  }

  int channels = y_shape.z - 4 * slice;
  ADDRESS_TYPE(y) target = address_of_y(ivec4(first, slice, n));
  vec4 stored = vec4(0);
  [[unroll]] for (int q = 0; q < TILE_Q; ++q)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) {
      ivec4 p = ivec4(first + ivec2(i, q), slice, n);
      if (all(greaterThanEqual(p.xy, own))) {
        vec4 v = keep_channels(activate(with_residual(finished(sum[q][i], slice), p)), channels);
        store_at_y(add_columns_y(add_rows_y(target, q), i), v);
        stored += v;
      }
    }
#ifdef MEANS
  store_mean(stored, slice, n);
#endif
#ifdef GATES
  store_gates_if_last(int(gl_NumWorkGroups.x), int(gl_NumWorkGroups.x * gl_NumWorkGroups.y), n);
#endif
}
