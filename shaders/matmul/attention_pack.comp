// Gathers Q, K or V into a grid of texels for attention.comp: column = image * tokens + token, row =
// first_row + head * slices + slice of four channels. If one tensor contains several of them at regular
// distances (because one product computed Q, K and V), a dispatch gathers `operands` of them.
//
// OPERANDS: the dispatch gathers two or three operands from as many tensors of one shape, x, x1 and x2, by equal strides.
//
// X_LINEAR, X_ROWS: view_of.glsl.
//
// QUADS: four channels are what load_quad_x() returns.
//
// BYTE_ROWS: x is a cache in bytes (byte_rows.glsl), whose strides are in words.
//
// ROUND_OPERANDS: `roundings` has a texel (step, least, most, factor) for each of the operands. Elements are multiplied by
// the factor and rounded, unless the step is 0.
//
// NORMALIZE: an invocation gathers all slices of a head, so that it normalises them. `norms` has a row for each of the
// operands: a texel (epsilon, whether the operand is normalised, 0, 0), then the factors of each head's slices.
#version 450
#extension GL_GOOGLE_include_directive : require

#ifdef OPERANDS
#include "attention_pack_tensors.h"
const int operands = OPERANDS;
#else
#include "attention_pack.h"
#endif
#include "tensor.glsl"
#include "divide.glsl"
#ifdef ROUND_OPERANDS
#include "round_to_steps.glsl"
#endif

#ifdef BYTE_ROWS
#include "byte_rows.glsl"
BYTES_IN(x)
#else
#include "view_of.glsl"
VIEW_OF(x)
#ifdef OPERANDS
#define x1_shape x_shape
#define x2_shape x_shape
VIEW_OF(x1)
#if OPERANDS == 3
VIEW_OF(x2)
#else
#define load_quad_x2 load_quad_x1
#define load_element_x2 load_element_x1
#endif
// Returns where the view of an operand begins in its tensor.
int base_of(int operand) { return operand == 0 ? base : operand == 1 ? second_base : third_base; }
vec4 load_quad(int operand, int at) {
  return operand == 0 ? load_quad_x(at) : operand == 1 ? load_quad_x1(at) : load_quad_x2(at);
}
float load_element(int operand, int at) {
  return operand == 0 ? load_element_x(at) : operand == 1 ? load_element_x1(at) : load_element_x2(at);
}
#else
int base_of(int operand) { return base + operand * operand_stride; }
vec4 load_quad(int operand, int at) { return load_quad_x(at); }
float load_element(int operand, int at) { return load_element_x(at); }
#endif
#endif
TENSOR_OUT(y)
#ifdef ROUND_OPERANDS
TEXELS_IN(roundings)
#endif
#ifdef NORMALIZE
TEXELS_IN(norms)
#endif

// Returns where the channels of a token begin.
int first_of(int operand, int head, ivec2 by_token) {
  int place = by_token.y * token_stride + head * head_stride + by_token.x * image_stride;
#ifdef BYTE_ROWS
  return base + operand * operand_stride + place;
#else
  return base_of(operand) + place;
#endif
}

vec4 load_slice(int operand, int first, int slice, int slices_each) {
#ifdef BYTE_ROWS
  vec4 v = numbers_of_slice(bytes_x(first + word_of_slice(slice)), slice);
#ifndef WITHOUT_SCALES
  v *= uintBitsToFloat(word_x(first + slices_each));
#endif
#else
  int channel = 4 * slice;
  int at = first + channel * channel_stride;
#ifdef QUADS
  vec4 v = load_quad(operand, at);
#else
  vec4 v = vec4(0);
  for (int j = 0; j < 4; ++j)
    if (channel + j < channels) v[j] = load_element(operand, at + j * channel_stride);
#endif
#endif
  return v;
}

#ifdef NORMALIZE
void main() {
  int width = tokens * images, slices_each = slices(channels), norms_width = 1 + heads * slices_each;
  ivec2 by_column = divide(flat_index(), width);
  if (by_column.x >= operands * heads) return;
  ivec2 by_token = divide(by_column.y, tokens);
  ivec2 by_head = divide(by_column.x, heads);
  int first = first_of(by_head.x, by_head.y, by_token);
  vec4 norm = load_norms(0, by_head.x, norms_width);
  bool normalizes = norm.y != 0.0;
  float factor = 1.0;
  if (normalizes) {
    float squares = 0.0;
    for (int slice = 0; slice < slices_each; ++slice) {
      vec4 v = load_slice(by_head.x, first, slice, slices_each);
      squares += dot(v, v);
    }
    factor = 1.0 / sqrt(squares / float(channels) + norm.x);
  }
  for (int slice = 0; slice < slices_each; ++slice) {
    vec4 v = load_slice(by_head.x, first, slice, slices_each);
    if (normalizes) v *= factor * load_norms(1 + by_head.y * slices_each + slice, by_head.x, norms_width);
    store_y(ivec4(by_column.y, first_row + by_column.x * slices_each + slice, 0, 0), v);
  }
}
#else
void main() {
  int width = tokens * images, slices_each = slices(channels);
  ivec2 by_column = divide(flat_index(), width);
  if (by_column.x >= operands * heads * slices_each) return;
  ivec2 by_token = divide(by_column.y, tokens);
  ivec2 by_slice = divide(by_column.x, slices_each);
  ivec2 by_head = divide(by_slice.x, heads);
  vec4 v = load_slice(by_head.x, first_of(by_head.x, by_head.y, by_token), by_slice.y, slices_each);
#ifdef ROUND_OPERANDS
  vec4 rounding = load_roundings(by_head.x, 0, operands);
  precise vec4 scaled = v * rounding.w;
  if (rounding.x != 0.0) v = round_to_steps(scaled, rounding.x, rounding.y, rounding.z);
#endif
  store_y(ivec4(by_column.y, first_row + by_column.x, 0, 0), v);
}
#endif
