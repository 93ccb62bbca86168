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
  int at = base_of(by_head.x) + by_token.y * token_stride + by_head.y * head_stride +
           channel * channel_stride + by_token.x * image_stride;
#ifdef QUADS
  vec4 v = load_quad(by_head.x, at);
#else
  vec4 v = vec4(0);
  for (int j = 0; j < 4; ++j)
    if (channel + j < channels) v[j] = load_element(by_head.x, at + j * channel_stride);
#endif
#endif
#ifdef ROUND_OPERANDS
  vec4 rounding = load_roundings(by_head.x, 0, operands);
  precise vec4 scaled = v * rounding.w;
  if (rounding.x != 0.0) v = round_to_steps(scaled, rounding.x, rounding.y, rounding.z);
#endif
  store_y(ivec4(by_column.y, first_row + by_column.x, 0, 0), v);
}
