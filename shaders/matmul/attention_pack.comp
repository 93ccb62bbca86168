// Gathers Q, K or V into a grid of texels for attention.comp: column = image * tokens + token, row =
// first_row + head * slices + slice of four channels. If one tensor contains several of them at regular
// distances (because one product computed Q, K and V), a dispatch gathers `operands` of them.
//
// X_LINEAR, X_ROWS: view_of_x.glsl.
//
// QUADS: four channels are one texel of x, or contiguous from a multiple of four on where x is linear.
//
// BYTE_ROWS: x is a cache in bytes (byte_rows.glsl), whose strides are in words.
//
// ROUND_OPERANDS: `roundings` has a texel (step, least, most, factor) for each of the operands. Elements are multiplied by
// the factor and rounded, unless the step is 0.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "attention_pack.h"
#include "tensor.glsl"
#include "divide.glsl"
#ifdef ROUND_OPERANDS
#include "round_to_steps.glsl"
#endif

#ifdef BYTE_ROWS
#include "byte_rows.glsl"
BYTES_IN(x)
#else
#include "view_of_x.glsl"
#endif
TENSOR_OUT(y)
#ifdef ROUND_OPERANDS
TEXELS_IN(roundings)
#endif

void main() {
  int width = tokens * images, slices_each = slices(channels);
  ivec2 by_column = divide(flat_index(), width);
  if (by_column.x >= operands * heads * slices_each) return;
  ivec2 by_token = divide(by_column.y, tokens);
  ivec2 by_slice = divide(by_column.x, slices_each);
  ivec2 by_head = divide(by_slice.x, heads);
#ifdef BYTE_ROWS
  int row = base + by_head.x * operand_stride + by_token.y * token_stride + by_head.y * head_stride +
            by_token.x * image_stride;
  vec4 v = numbers_of_slice(bytes_x(row + word_of_slice(by_slice.y)), by_slice.y);
#ifndef WITHOUT_SCALES
  v *= uintBitsToFloat(word_x(row + slices_each));
#endif
#else
  int channel = 4 * by_slice.y;
  int at = base + by_head.x * operand_stride + by_token.y * token_stride + by_head.y * head_stride +
           channel * channel_stride + by_token.x * image_stride;
#ifdef QUADS
  vec4 v = load_quad(at);
#else
  vec4 v = vec4(0);
  for (int j = 0; j < 4; ++j)
    if (channel + j < channels) v[j] = load_element(at + j * channel_stride);
#endif
#endif
#ifdef ROUND_OPERANDS
  vec4 rounding = load_roundings(by_head.x, 0, operands);
  precise vec4 scaled = v * rounding.w;
  if (rounding.x != 0.0) v = round_to_steps(scaled, rounding.x, rounding.y, rounding.z);
#endif
  store_y(ivec4(by_column.y, first_row + by_column.x, 0, 0), v);
}
