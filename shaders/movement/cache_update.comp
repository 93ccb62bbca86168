// Writes tokens into a cache of rows in bytes (runtime/graph/byte_rows.hpp). x are the tokens, (batch, outer, token, row,
// channel), y is the cache. An invocation writes one word: it reads the whole row for the largest magnitude, which is in the
// device's cache after the first invocation of the row. An update that would extend beyond the cache is not written.
//
// INTEGERS: x has integers, whose lower 8 bits are the bytes. Rows have no scale.
// QUANTISES: x has floats, whose quotients by the scale become signed bytes or, with NIBBLES, integers of 4 bits plus 8. The scale
// is one number (ONE_SCALE), or has the channels of all rows of a token. Rows have no scale of their own.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "cache_update.h"
#include "tensor.glsl"
#include "divide.glsl"
#include "inf_nan.glsl"
#include "byte_rows.glsl"

LINEAR_IN(x)
LINEAR_IN(first_tokens)
SCALARS_OUT(y)

#define LEAST_MAGNITUDE 1e-30  // rows below are zero: their scale might be flushed
#define NOT_A_NUMBER 0x7fc00000

#ifdef QUANTISES
LINEAR_IN(scale)

// Returns the integers of a slice of x.
ivec4 quantised(int slice, int scale_slice) {
#ifdef ONE_SCALE
  vec4 steps = vec4(load_scale(0));
#else
  vec4 steps = load4_scale(scale_slice);
#endif
#ifdef NIBBLES
  const vec2 bounds = vec2(-8, 7);
#else
  const vec2 bounds = vec2(-128, 127);
#endif
  return ivec4(clamp(roundEven(without_nan(exact_halves(load4_x(slice), steps))), bounds.x, bounds.y));
}

int word_of_slices(int word, int scale_word) {
#ifdef NIBBLES
  ivec4 low = quantised(2 * word, 2 * scale_word) + 8, high = quantised(2 * word + 1, 2 * scale_word + 1) + 8;
  ivec4 bytes = ivec4(low.x | low.y << 4, low.z | low.w << 4, high.x | high.y << 4, high.z | high.w << 4);
#else
  ivec4 bytes = quantised(word, scale_word) & 255;
#endif
  return bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
}
#endif

#if defined(INTEGERS) || defined(QUANTISES)
#define ROW_WORDS slices4
#else
#define ROW_WORDS (slices4 + 1)
#endif

void main() {
  ivec2 by_word = divide(flat_index(), ROW_WORDS);
  ivec2 by_group = divide(by_word.x, tokens * token_rows);
  ivec2 by_image = divide(by_group.x, outer);
  if (by_image.x >= batches) return;
  int first = load_first_tokens(by_image.x);
  if (first < 0 || first > capacity - tokens) return;
  int row = slices4 * by_word.x;
#ifdef QUANTISES
  int scale_row = by_image.y * token_rows + divide(by_group.y, token_rows).y;
  int word = word_of_slices(row + by_word.y, slices4 * scale_row + by_word.y);
#elif defined(INTEGERS)
  ivec4 bytes = load4_x(row + by_word.y) & 255;
  int word = bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
#else
  float largest = 0.0;
  bool is_finite = true;
  for (int i = 0; i < slices4; ++i) {
    vec4 v = load4_x(row + i);
    is_finite = is_finite && !any(is_nan(v)) && !any(is_inf(v));
    v = abs(v);
    largest = max(largest, max(max(v.x, v.y), max(v.z, v.w)));
  }
  bool is_zero = !is_finite || largest < LEAST_MAGNITUDE;
  int word = 0;
  if (by_word.y == slices4) {
    word = is_finite ? (is_zero ? 0 : floatBitsToInt(largest / 127.0)) : NOT_A_NUMBER;
  } else if (!is_zero) {
    word = word_of_bytes(clamp(load4_x(row + by_word.y) * (127.0 / largest), vec4(-127), vec4(127)));
  }
#endif
  int to = (by_group.x * capacity + first) * token_rows + by_group.y;
  set_y(to * ROW_WORDS + by_word.y, word);
}
