// The blocks of conv_matrix.glsl with sums in registers and operands in shared memory, for GPUs whose loads from memory cost
// more than their products.
//
// An invocation computes TILE_P pixels of TILE_S slices, every INVOCATIONS_P-th and INVOCATIONS_S-th of the block. Split-K: the
// workgroup has PARTS times as many invocations as the block needs, and each part of them sums up its own input channels of a
// step, so that a block of few pixels and slices still occupies a compute unit. The next step's operands are loaded while this
// step's are multiplied.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

const int TILE_INVOCATIONS = INVOCATIONS_P * INVOCATIONS_S;
const int BLOCK_M = TILE_P * INVOCATIONS_P, BLOCK_SLICES = TILE_S * INVOCATIONS_S, BLOCK_N = 4 * BLOCK_SLICES;
const int STEP_SLICES = STEP_K / 4, SLICES_OF_PART = STEP_SLICES / PARTS;
const int TEXELS_A = STEP_SLICES * BLOCK_M, TEXELS_B = STEP_K * BLOCK_SLICES;
const int LOADS_A = (TEXELS_A + WORKGROUP_X - 1) / WORKGROUP_X, LOADS_B = (TEXELS_B + WORKGROUP_X - 1) / WORKGROUP_X;
const int ROW_B = BLOCK_SLICES + 1;  // an unused texel between rows avoids bank conflicts

shared vec4 a_texels[TEXELS_A];        // rows of the block for each slice of x
shared vec4 b_texels[STEP_K * ROW_B];  // output slices for each channel of x

// Returns (row of the block, slice of the step) of load i. Neighbouring invocations load neighbouring pixels.
ivec2 place_a(int i) {
  int texel = (int(gl_LocalInvocationIndex) + i * WORKGROUP_X) % TEXELS_A;
  return ivec2(texel % BLOCK_M, texel / BLOCK_M);
}
// Returns (channel of the step, output slice of the block) of load i.
ivec2 place_b(int i) {
  int texel = (int(gl_LocalInvocationIndex) + i * WORKGROUP_X) % TEXELS_B;
  return ivec2(texel % STEP_K, texel / STEP_K);
}

#include "conv_matrix.glsl"

vec4 next_a[LOADS_A], next_b[LOADS_B];

bool fetch() {
  if (!begins_step()) return false;
  [[unroll]] for (int i = 0; i < LOADS_A; ++i) {
    TexelOfX texel = texel_of_x(i, place_a(i).y);
    vec4 v = load_x(texel.there);
#ifdef SCALE
    v = scaled_x(v, scale_of(texel.there.z, texel.there.w));
#endif
    next_a[i] = mix(vec4(0), v, bvec4(texel.wanted));
  }
  [[unroll]] for (int i = 0; i < LOADS_B; ++i) {
    ivec2 place = place_b(i);
    ivec3 texel = texel_of_w(place.x, first_output + place.y);
    // Outputs after the last are not stored, and channels after the last are multiplied by zeros.
    next_b[i] = load_w(texel.x, texel.y * taps + texel.z, 4 * input_slices);
  }
  slice += STEP_SLICES;
  return true;
}

void store_to_shared() {
  int lane = int(gl_LocalInvocationIndex);
  [[unroll]] for (int i = 0; i < LOADS_A; ++i)
    if (lane + i * WORKGROUP_X < TEXELS_A) a_texels[lane + i * WORKGROUP_X] = next_a[i];
  [[unroll]] for (int i = 0; i < LOADS_B; ++i) {
    ivec2 place = place_b(i);
    if (lane + i * WORKGROUP_X < TEXELS_B) b_texels[place.x * ROW_B + place.y] = next_b[i];
  }
}

shared vec4 part_sums[WORKGROUP_X * TILE_S];

void main() {
  if (!start()) return;  // all invocations of the workgroup return

  int lane = int(gl_LocalInvocationIndex), part = lane / TILE_INVOCATIONS, of_tile = lane % TILE_INVOCATIONS;
  int row = of_tile % INVOCATIONS_P, quad = of_tile / INVOCATIONS_P;
  vec4 sum[TILE_P][TILE_S];
  [[unroll]] for (int i = 0; i < TILE_P; ++i)
    [[unroll]] for (int j = 0; j < TILE_S; ++j) sum[i][j] = vec4(0);

  bool more = fetch();
  while (more) {
    barrier();  // all have multiplied the previous step's operands
    store_to_shared();
    barrier();
    more = fetch();
    [[unroll]] for (int k = 0; k < SLICES_OF_PART; ++k) {
      int of_step = part * SLICES_OF_PART + k;
      vec4 a[TILE_P];
      [[unroll]] for (int i = 0; i < TILE_P; ++i) a[i] = a_texels[of_step * BLOCK_M + row + i * INVOCATIONS_P];
      [[unroll]] for (int c = 0; c < 4; ++c)
        [[unroll]] for (int j = 0; j < TILE_S; ++j) {
          vec4 b = b_texels[(4 * of_step + c) * ROW_B + quad + j * INVOCATIONS_S];
          [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[i][j] += a[i][c] * b;
        }
    }
  }

  [[unroll]] for (int i = 0; i < TILE_P; ++i) {
    barrier();  // all have read the previous row's sums
    [[unroll]] for (int j = 0; j < TILE_S; ++j) part_sums[j * WORKGROUP_X + lane] = sum[i][j];
    barrier();
    [[unroll]] for (int first = 0; first < TILE_S; first += PARTS) {
      int j = first + part;
      if (j < TILE_S) {
        vec4 v = vec4(0);
        [[unroll]] for (int p = 0; p < PARTS; ++p) v += part_sums[j * WORKGROUP_X + p * TILE_INVOCATIONS + of_tile];
        finish(row + i * INVOCATIONS_P, quad + j * INVOCATIONS_S, v);
      }
    }
  }
}
