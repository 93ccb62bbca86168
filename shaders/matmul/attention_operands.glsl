// Reads what attention multiplies: Q, K and V, which are stored in one of three ways, the mask and the lengths.
//   by default   rows of one grid of texels (attention_pack.comp)
//   MATRICES     columns of matrices in channels4, all in one tensor or with SEPARATE in three; with PICTURES tokens are the
//                pixels of such tensors, row by row, of the image `picture`
//   CACHE        three linear tensors, whose heads are whole slices of channels; with BYTE_ROWS K and V are in bytes, whose
//                scales are not applied to the texels: multiply scores and weights by scales_of_k() and scales_of_v(), or
//                WITHOUT_SCALES by nothing
//
// ADDRESS_Q is the type of an address in Q, locate_q(token, row) finds it, and next_q(address, row) loads a texel and moves on
// to the next slice; K and V likewise. masked() returns the scores of a token of Q and four keys, with SOFTCAP capped, with
// the mask added. With LENGTHS
// only the first `lengths` tokens of K and V are valid in each image, and the tokens of Q are the last of these.
#ifdef PICTURES
#include "attention_pictures.h"
#elif defined(MATRICES)
#include "attention_matrices.h"
#elif defined(CACHE)
#include "attention_cache.h"
#else
#include "attention.h"
#endif
#include "inf_nan.glsl"
#include "tensor.glsl"
#include "divide.glsl"
#ifdef SOFTCAP
#include "soft_cap.glsl"
#endif

#ifdef MATRICES
#ifdef PICTURES
#define q_shape ivec4(q_width, q_height, 4 * q_slices, images)
#define k_shape ivec4(kv_width, kv_height, 4 * k_slices, images)
#define v_shape ivec4(kv_width, kv_height, 4 * v_slices, images)
int picture;
ivec4 position_in(int width, int token, int row) {
  ivec2 by_line = divide(token, width);
  return ivec4(by_line.y, by_line.x, row, picture);
}
ivec4 position_in_q(int token, int row) { return position_in(q_width, token, row); }
ivec4 position_in_k(int token, int row) { return position_in(kv_width, token, row); }
#else
#define q_shape ivec4(1, 1, 4 * q_slices, q_tokens)
#define k_shape ivec4(1, 1, 4 * k_slices, kv_tokens)
#define v_shape ivec4(1, 1, 4 * v_slices, kv_tokens)
ivec4 position_in_q(int column, int row) { return ivec4(0, 0, row, column); }
#define position_in_k position_in_q
#endif
#define position_in_v position_in_k
#define y_shape ivec4(1, 1, 4 * y_slices, images * queries)
#define OPERAND(name)                                                                                             \
  TENSOR_IN(name)                                                                                                 \
  SLICES_OF_TENSOR(name)                                                                                          \
  ADDRESS_TYPE(name) locate_##name(int column, int row) { return address_of_##name(position_in_##name(column, row)); } \
  vec4 next_##name(inout ADDRESS_TYPE(name) address, int row) {                                                   \
    vec4 texel = fetch_##name(address);                                                                           \
    next_slice_of_##name(address);                                                                                \
    if (begins_column_of_##name(row + 1)) next_column_of_##name(address);                                         \
    return texel;                                                                                                 \
  }
OPERAND(q)
#define ADDRESS_Q ADDRESS_TYPE(q)
#ifdef SEPARATE
OPERAND(k)
OPERAND(v)
#define ADDRESS_K ADDRESS_TYPE(k)
#define ADDRESS_V ADDRESS_TYPE(v)
#endif
#elif defined(CACHE)
LINEAR_IN(q)
#ifdef BYTE_ROWS
BYTES_IN(k)
BYTES_IN(v)
#else
LINEAR_IN(k)
LINEAR_IN(v)
#endif
int q_first, k_first, v_first;  // slices before those of the image and head
int locate_q(int token, int row) { return q_first + token * q_token_stride; }
int locate_k(int token, int row) { return k_first + token * k_token_stride; }
int locate_v(int token, int row) { return v_first + token * v_token_stride; }
vec4 next_q(inout int address, int row) { return load4_q(address++); }
#ifdef BYTE_ROWS
#include "byte_rows.glsl"
vec4 next_k(inout int address, int row) {
  int slice = address++;
  return numbers_of_slice(bytes_k(word_of_slice(slice)), slice);
}
vec4 next_v(inout int address, int row) {
  int slice = address++;
  return numbers_of_slice(bytes_v(word_of_slice(slice)), slice);
}
#ifndef WITHOUT_SCALES
float scale_of_k(int token) { return uintBitsToFloat(word_k(locate_k(token, 0) + depth_slices)); }
float scale_of_v(int token) { return uintBitsToFloat(word_v(locate_v(token, 0) + V_SLICES)); }
vec4 scales_of_k(ivec4 token) {
  return vec4(scale_of_k(token.x), scale_of_k(token.y), scale_of_k(token.z), scale_of_k(token.w));
}
vec4 scales_of_v(ivec4 token) {
  return vec4(scale_of_v(token.x), scale_of_v(token.y), scale_of_v(token.z), scale_of_v(token.w));
}
#endif
#else
vec4 next_k(inout int address, int row) { return load4_k(address++); }
vec4 next_v(inout int address, int row) { return load4_v(address++); }
#endif
#define ADDRESS_Q int
#define ADDRESS_K int
#define ADDRESS_V int
#else
TEXELS_IN(grid)
ivec2 locate_q(int column, int row) { return ivec2(column, row); }
vec4 next_q(inout ivec2 address, int row) { return load_grid(address.x, address.y++, grid_width); }
#define ADDRESS_Q ivec2
#endif
// Q, K and V are in one tensor.
#if !defined(SEPARATE) && !defined(CACHE)
#define locate_k locate_q
#define locate_v locate_q
#define next_k next_q
#define next_v next_q
#define ADDRESS_K ADDRESS_Q
#define ADDRESS_V ADDRESS_Q
#endif
#if defined(MASK)
LINEAR_IN(mask)
#endif
#ifdef LENGTHS
LINEAR_IN(lengths)
int valid_keys;  // valid tokens of K and V in the image
int first_position;  // position of the first token of Q among the keys
#define POSITION(query) (query + first_position)
#else
#define valid_keys keys
#define POSITION(query) query
#endif
#ifdef SINKS
LINEAR_IN(sinks)
#endif
#ifdef KEY_BIAS
LINEAR_IN(key_bias)
int first_bias;  // that of the first key for the image and head
#endif
#define LOWEST -3.402823466e38  // initial largest score; unlike infinity, its differences are defined
#define MINUS_INFINITY uintBitsToFloat(0xff800000u)

#if defined(MASK) && !defined(MASK_BOOLEAN)
#define MASK_IS_HALF_F32 false
#define MASK_IS_HALF_F16 true
#define MASK_IS_HALF_Q8 false
const bool mask_is_half = CAT(MASK_IS_HALF_, ELEMENT_mask);

// The lowest half represents the lowest float (FINITE_HALVES in tensor.glsl), beside which scores are negligible.
vec4 with_lowest_floats(vec4 addend) {
  return mask_is_half ? mix(addend, vec4(0.5 * LOWEST), equal(addend, vec4(-65504))) : addend;
}
#endif

// Returns the scores of a token of Q and four keys with the mask added. Minus infinity excludes a key; `end_mask`
// excludes keys after the last one. Uses selects, because unrolling would multiply branches to dozens.
vec4 masked(vec4 scores, int query, ivec4 key, int mask_base, vec4 end_mask) {
#ifdef SOFTCAP
  scores = soft_capped(scores, SOFTCAP);
#endif
#if defined(MASK)
  ivec4 at = mask_base + query * mask_query_stride + min(key, ivec4(keys - 1)) * mask_key_stride;
#if defined(MASK_BOOLEAN)
  ivec4 sees = ivec4(load_mask(at.x), load_mask(at.y), load_mask(at.z), load_mask(at.w));
  scores = mix(scores, vec4(MINUS_INFINITY), equal(sees, ivec4(0)));
#else
  vec4 mask = vec4(load_mask(at.x), load_mask(at.y), load_mask(at.z), load_mask(at.w));
  scores += with_lowest_floats(mask);
#endif
#endif
#ifdef KEY_BIAS
  ivec4 of_key = first_bias + min(key, ivec4(keys - 1));
  scores += with_lowest_floats(vec4(load_key_bias(of_key.x), load_key_bias(of_key.y), load_key_bias(of_key.z),
                                    load_key_bias(of_key.w)));
#endif
#ifdef CAUSAL
  scores = mix(scores, vec4(MINUS_INFINITY), greaterThan(key, ivec4(POSITION(query))));
#endif
#ifdef WINDOW
  scores = mix(scores, vec4(MINUS_INFINITY), lessThanEqual(key, ivec4(POSITION(query) - WINDOW)));
#endif
  return scores + end_mask;
}
