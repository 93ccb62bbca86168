// Gathers rows of a quantised table and dequantises them: (integer - zero point) * scale. Integers have BITS bits; each block
// of a row has its own scale. Negative indices count from the end. SIGNED_BITS: the integers and zero points are signed.
// HAS_ZEROS: each block has its own zero point: 1, packed like the table; 2, a float after its scale in `scales`.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "block_gather.h"
#include "tensor.glsl"
#include "divide.glsl"

LINEAR_WORDS_IN(x)
LINEAR_IN(indices)
LINEAR_IN(scales)
#if HAS_ZEROS == 1
LINEAR_WORDS_IN(zeros)
#endif
LINEAR_OUT(y)

// Returns the integer that begins `shift` bits into byte `byte` of the tensor, which is a byte of `word`.
int integer_of(uint word, int byte, int shift) {
#ifdef SIGNED_BITS
  return bitfieldExtract(int(word), 8 * (byte & 3) + shift, BITS);
#else
  return int(bitfieldExtract(word, 8 * (byte & 3) + shift, BITS));
#endif
}

float element(int i) {
  ivec2 position = divide(i, columns);
  int row = load_indices(position.x), column = position.y;
  if (row < 0) row += rows;
  // An index out of range is an error that a kernel cannot report; the clamp keeps the read inside x.
  row = clamp(row, 0, rows - 1);
  int at = divide(column, block).x;
  int byte = row * row_bytes + (column * BITS >> 3);
  int integer = integer_of(word_x(byte >> 2), byte, column * BITS & 7);
#if HAS_ZEROS == 2
  int pair = 2 * (row * blocks + at);
  return float(integer - int(load_scales(pair + 1))) * load_scales(pair);
#elif HAS_ZEROS
  int zero_byte = row * zero_bytes + (at * BITS >> 3);
  integer -= integer_of(word_zeros(zero_byte >> 2), zero_byte, at * BITS & 7);
#else
  integer -= default_zero;
#endif
  return float(integer) * load_scales(row * blocks + at);
}

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  vec4 v;
  [[unroll]] for (int j = 0; j < 4; ++j) v[j] = element(min(4 * i4 + j, count - 1));
  store_y(i4, v);
}
