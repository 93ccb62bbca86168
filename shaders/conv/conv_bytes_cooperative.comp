// The blocks of conv_matrix.glsl with cooperative matrices of signed bytes, for an input and weights in bytes (DOT_PRODUCTS 1 of
// byte_words.glsl). Rows of shared memory are pixels and output channels, with the bytes of a step each.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#define MATRIX_BYTES
#include "cooperative.glsl"

#define B_COLUMNS
#include "cooperative_block.glsl"
#include "conv_matrix.glsl"

const int WORDS = GROUP / 4;

// Returns four channels of x. Channels after the last are zeros, which no weight changes, and the padding is the zero point.
uint word_of_x(int i, int of_step) {
  TexelOfX texel = texel_of_x(i, of_step);
  uint word = fetch_word_or_zero_x(address_of_x(texel.there), texel.wanted);
  return texel.exists ? word : 0u;
}
// Returns the weights of four channels of x for an output channel of the block. Outputs after the last are not stored.
uint word_of_w(int of_step, int output_channel) {
  ivec3 texel = texel_of_w(4 * of_step, first_output + (output_channel >> 2));
  return load_word_w((texel.x & ~3) + (output_channel & 3), texel.y * taps + texel.z, 4 * input_slices);
}

bool fetch() {
  if (!begins_step()) return false;
  [[unroll]] for (int i = 0; i < LOADS_A; ++i)
    [[unroll]] for (int c = 0; c < WORDS; ++c) next_a[i][c] = word_of_x(i, WORDS * place_a(i).y + c);
  [[unroll]] for (int i = 0; i < LOADS_B; ++i) {
    ivec2 place = place_b(i);
    [[unroll]] for (int c = 0; c < WORDS; ++c) next_b[i][c] = word_of_w(WORDS * place.y + c, place.x);
  }
  slice += STEP_K / 4;
  return true;
}

#ifdef OFFSET_WEIGHTS  // weights are less a number, because they exceed signed bytes
#define OFFSET_B
int offset_of_b() { return 128 - int(w_grid.y); }
#endif
#include "cooperative_main.glsl"
