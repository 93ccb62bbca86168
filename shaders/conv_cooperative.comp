// Convolution without groups, and matrix product whose rows are pixels, in products of cooperative matrices: rows are
// pixels, columns output channels, and what is summed over are input channels, for each tap of the window.
//
// A workgroup computes BLOCK_M pixels of BLOCK_N channels. Its subgroups, SUBGROUPS_M x SUBGROUPS_N, have
// TILE_M x TILE_N matrices of them each. STEP_K input channels at a time pass through shared memory; those of the next
// step are on their way while this one's are multiplied. Weights as in conv_tile.glsl.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "cooperative.glsl"

layout(push_constant) uniform Params {
  ivec4 x_shape;
  ivec4 y_shape;
  vec4 activation_params;
  ivec2 kernel_size;  // (width, height), like all pairs here
  ivec2 stride;
  ivec2 dilation;
  ivec2 padding;  // left, top
#ifdef RESIDUAL
  ivec4 residual_shape;  // that of y, perhaps with fewer channels
#endif
};

#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

TENSOR_IN(0, x)
TEXELS_IN(1, w)
TENSOR_OUT(2, y)
#ifdef RESIDUAL
TENSOR_IN(3, residual)
#endif
#include "residual.glsl"
#include "scale.glsl"

const int BLOCK_M = MATRIX_M * TILE_M * SUBGROUPS_M, BLOCK_N = MATRIX_N * TILE_N * SUBGROUPS_N;
// Rows of shared memory are of uvec4, eight halves; one that is unused between them spreads rows over the banks.
const int ROW_A = STEP_K / 8 + 1, ROW_B = BLOCK_N / 8 + 1;
const int EIGHTS_A = BLOCK_M * STEP_K / 8, EIGHTS_B = STEP_K * BLOCK_N / 8;
const int LOADS_A = (EIGHTS_A + WORKGROUP_X - 1) / WORKGROUP_X, LOADS_B = (EIGHTS_B + WORKGROUP_X - 1) / WORKGROUP_X;
const int QUADS_C = MATRIX_M * MATRIX_N / 4, PARTS_C = (QUADS_C + SUBGROUP - 1) / SUBGROUP;

shared uvec4 a_rows[BLOCK_M * ROW_A];  // pixels
shared uvec4 b_rows[STEP_K * ROW_B];   // input channels
shared float c_rows[SUBGROUPS_M * SUBGROUPS_N * 4 * QUADS_C];

int lane = int(gl_LocalInvocationIndex);
int first_pixel, first_output;  // of the workgroup; outputs in slices
int pixels, input_slices, output_slices, taps;

// (x, y, batch) of an output pixel.
ivec3 pixel_at(int pixel) {
  ivec2 row_column = divide(pixel, y_shape.x);
  ivec2 batch_row = divide(row_column.x, y_shape.y);
  return ivec3(row_column.y, batch_row.y, batch_row.x);
}

uvec2 halves_of_x(ivec2 at, int slice, int n, bool wanted) {
  bool inside = wanted && slice < input_slices && all(greaterThanEqual(at, ivec2(0))) && all(lessThan(at, x_shape.xy));
  if (!inside) return uvec2(0);
  vec4 v = load_x(ivec4(at, slice, n));
#ifdef SCALE
  v *= scale_of(slice, n);
#endif
  return pack_half4(v);
}
uvec2 halves_of_w(int channel, int output_slice, int tap) {
  bool inside = channel < 4 * input_slices && output_slice < output_slices;
  return inside ? pack_half4(load_w(channel, output_slice * taps + tap, 4 * input_slices)) : uvec2(0);
}

ivec3 pixel_a[LOADS_A];  // of what this invocation loads of A: (x, y) that the first tap sees, batch
bool wanted_a[LOADS_A];
uvec4 next_a[LOADS_A], next_b[LOADS_B];

void locate_pixels() {
  [[unroll]] for (int i = 0; i < LOADS_A; ++i) {
    int pixel = first_pixel + (lane + i * WORKGROUP_X) % BLOCK_M;
    wanted_a[i] = pixel < pixels;
    ivec3 at = pixel_at(min(pixel, pixels - 1));
    pixel_a[i] = ivec3(at.xy * stride - padding, at.z);
  }
}

// Neighbours load neighbouring pixels, and weights of neighbouring input channels, as these lie in memory.
void fetch(int tap, int first_slice) {
  ivec2 row_column = divide(tap, kernel_size.x);
  ivec2 shift = ivec2(row_column.y, row_column.x) * dilation;
  [[unroll]] for (int i = 0; i < LOADS_A; ++i) {
    int slice = first_slice + 2 * ((lane + i * WORKGROUP_X) / BLOCK_M);
    ivec2 at = pixel_a[i].xy + shift;
    next_a[i] = uvec4(halves_of_x(at, slice, pixel_a[i].z, wanted_a[i]),
                      halves_of_x(at, slice + 1, pixel_a[i].z, wanted_a[i]));
  }
  [[unroll]] for (int i = 0; i < LOADS_B; ++i) {
    int eighth = lane + i * WORKGROUP_X;
    int channel = 4 * first_slice + eighth % STEP_K, output_slice = first_output + 2 * (eighth / STEP_K);
    next_b[i] = uvec4(halves_of_w(channel, output_slice, tap), halves_of_w(channel, output_slice + 1, tap));
  }
}

void put_down() {
  [[unroll]] for (int i = 0; i < LOADS_A; ++i) {
    int eighth = lane + i * WORKGROUP_X;
    if (eighth < EIGHTS_A) a_rows[eighth % BLOCK_M * ROW_A + eighth / BLOCK_M] = next_a[i];
  }
  [[unroll]] for (int i = 0; i < LOADS_B; ++i) {
    int eighth = lane + i * WORKGROUP_X;
    if (eighth < EIGHTS_B) b_rows[eighth % STEP_K * ROW_B + eighth / STEP_K] = next_b[i];
  }
}

// Adds bias and residual to the four sums of a pixel, and stores them.
void finish(ivec3 at, int slice, vec4 v) {
  int grid_width = 4 * input_slices;
  ivec2 bias_at = divide(slice, grid_width);
  v += load_w(bias_at.y, output_slices * taps + bias_at.x, grid_width);
  ivec4 p = ivec4(at.xy, slice, at.z);
  store_y(p, activate(with_residual(v, p)));
}

void main() {
  pixels = y_shape.x * y_shape.y * y_shape.w;
  input_slices = slices(x_shape.z);
  output_slices = slices(y_shape.z);
  taps = kernel_size.x * kernel_size.y;
  int blocks_m = (pixels + BLOCK_M - 1) / BLOCK_M;
  ivec2 block = divide(int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x), blocks_m);
  first_pixel = block.y * BLOCK_M;
  first_output = block.x * (BLOCK_N / 4);
  if (first_output >= output_slices) return;  // all of the workgroup

  int subgroup = int(gl_SubgroupID);
  int row = subgroup % SUBGROUPS_M * (MATRIX_M * TILE_M), column = subgroup / SUBGROUPS_M * (MATRIX_N * TILE_N);
  MATRIX_C sums[TILE_M * TILE_N];
  [[unroll]] for (int i = 0; i < TILE_M * TILE_N; ++i) sums[i] = MATRIX_C(0.0);

  locate_pixels();
  int tap = 0, slice = 0;
  fetch(tap, slice);
  while (tap < taps) {
    barrier();  // the last step's are multiplied
    put_down();
    barrier();
    slice += STEP_K / 4;
    if (slice >= input_slices) {
      slice = 0;
      ++tap;
    }
    if (tap < taps) fetch(tap, slice);
    [[unroll]] for (int k = 0; k < STEP_K; k += MATRIX_K) {
      MATRIX_A a[TILE_M];
      [[unroll]] for (int i = 0; i < TILE_M; ++i)
        LOAD_ROWS(a[i], a_rows, (row + i * MATRIX_M) * ROW_A + k / 8, ROW_A);
      [[unroll]] for (int j = 0; j < TILE_N; ++j) {
        MATRIX_B b;
        LOAD_ROWS(b, b_rows, k * ROW_B + (column + j * MATRIX_N) / 8, ROW_B);
        [[unroll]] for (int i = 0; i < TILE_M; ++i) sums[i * TILE_N + j] = MULTIPLY(a[i], b, sums[i * TILE_N + j]);
      }
    }
  }

  int first_c = subgroup * 4 * QUADS_C;
  [[unroll]] for (int i = 0; i < TILE_M; ++i)
    [[unroll]] for (int j = 0; j < TILE_N; ++j) {
      barrier();  // the last matrix is stored
      STORE_ROWS(sums[i * TILE_N + j], c_rows, first_c, MATRIX_N);
      barrier();
      [[unroll]] for (int part = 0; part < PARTS_C; ++part) {
        int quad = int(gl_SubgroupInvocationID) + part * SUBGROUP;
        int pixel = first_pixel + row + i * MATRIX_M + quad % MATRIX_M;
        int output_slice = first_output + (column + j * MATRIX_N) / 4 + quad / MATRIX_M;
        int c = first_c + quad % MATRIX_M * MATRIX_N + 4 * (quad / MATRIX_M);
        if (quad < QUADS_C && pixel < pixels && output_slice < output_slices)
          finish(pixel_at(pixel), output_slice, vec4(c_rows[c], c_rows[c + 1], c_rows[c + 2], c_rows[c + 3]));
      }
    }
}
