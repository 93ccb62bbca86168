// The blocks of conv_matrix.glsl with cooperative matrices.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "cooperative.glsl"

#include "cooperative_block.glsl"
#include "conv_matrix.glsl"
HALF_BITS_OF_TENSOR(x)
HALF_BITS_OF_TEXELS(w)

uvec2 halves_of_x(int i, int of_step) {
  TexelOfX texel = texel_of_x(i, of_step);
#ifdef SCALE
  uvec2 bits = pack_half4(scaled_x(load_x(texel.there), scale_of(texel.there.z, texel.there.w)));
#else
  uvec2 bits = half_bits_x(texel.there);
#endif
  return mix(uvec2(0), bits, bvec2(texel.wanted));
}
// Outputs after the last are not stored, and channels after the last are multiplied by zeros.
uvec2 halves_of_w(int of_step, int output_slice) {
  ivec3 texel = texel_of_w(of_step, output_slice);
  return half_bits_w(texel.x, texel.y * taps + texel.z, 4 * input_slices);
}

bool fetch() {
  if (!begins_step()) return false;
  [[unroll]] for (int i = 0; i < LOADS_A; ++i) {
    int of_step = 2 * place_a(i).y;
    next_a[i] = uvec4(halves_of_x(i, of_step), halves_of_x(i, of_step + 1));
  }
  [[unroll]] for (int i = 0; i < LOADS_B; ++i) {
    ivec2 place = place_b(i);
    int output_slice = first_output + 2 * place.y;
    next_b[i] = uvec4(halves_of_w(place.x, output_slice), halves_of_w(place.x, output_slice + 1));
  }
  slice += STEP_K / 4;
  return true;
}

#include "cooperative_main.glsl"
