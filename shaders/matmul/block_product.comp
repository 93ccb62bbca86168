// Matrix product of linear rows with weights of BITS bits, which are expanded in registers: (integer - zero point) * scale. A
// column of the weights is a sequence of words, the lowest bits first, in blocks that have a scale and a zero point each
// (MatMulNBits of ONNX Runtime, docs/ContribOperators.md). An invocation, with COOPERATIVE a workgroup, or with BY_SUBGROUPS a
// subgroup computes TILE_P rows of TILE_S times four columns.
//
// A unit is UNIT_WORDS words of a column that are in one block.
//   PARTIAL          the last unit has weights beyond the rows of A, which have arbitrary values
//   QUADS            rows of x are whole texels
//   SCALED_WEIGHTS   weights are scaled before they are multiplied, which is less work for several rows; otherwise the sum over
//                    a unit is scaled
//   WIDE_LOADS       units are whole groups of four words, which are loaded together, and the loop over them is unrolled; for
//                    small tiles, whose code is short
//   WORD_QUADS       units are whole groups of four words, which are loaded together; the loop over them is not unrolled
//   ZEROS            zero points: 0, all are 2^(BITS - 1); 1, packed integers of BITS bits; 2, floats; 3, floats after each
//                    scale in `scales`
//   HAS_BIAS         1: the tensor `bias`; 2: after the scales in `scales`
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "subgroup_arithmetic.glsl"
#include "block_product.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"
#include "cooperate.glsl"

#ifdef QUADS
QUADS_IN(x)
#else
LINEAR_IN(x)
#endif
#if defined(WIDE_LOADS) || defined(WORD_QUADS)
LINEAR_WORDS4_IN(w)
#else
LINEAR_WORDS_IN(w)
#endif
LINEAR_IN(scales)
#if ZEROS == 1
LINEAR_WORDS_IN(zeros)
#elif ZEROS == 2
LINEAR_IN(zeros)
#endif
#if HAS_BIAS == 1
LINEAR_IN(bias)
#endif
LINEAR_OUT(y)

#if ZEROS == 3
#define SCALE_STRIDE 2
#else
#define SCALE_STRIDE 1
#endif
#if HAS_BIAS == 2
float load_bias(int column) { return load_scales(SCALE_STRIDE * y_columns * blocks + column); }
#endif

#define MASK ((1 << BITS) - 1)
#define WORD_INTEGERS (32 / BITS)
#define HALF_INTEGERS (16 / BITS)
#define UNIT (UNIT_WORDS * WORD_INTEGERS)

// Columns after the last one repeat it and are not stored.
ivec4 columns_of(int quad) { return min(4 * quad + ivec4(0, 1, 2, 3), ivec4(y_columns - 1)); }

float zero_point(int column, int block) {
#if ZEROS == 1
  int byte = column * zero_bytes + (block * BITS >> 3);
  return float(bitfieldExtract(word_zeros(byte >> 2), 8 * (byte & 3) + (block * BITS & 7), BITS));
#elif ZEROS == 2
  return load_zeros(column * blocks + block);
#elif ZEROS == 3
  return load_scales(2 * (column * blocks + block) + 1);
#else
  return float(1 << (BITS - 1));
#endif
}

// Returns elements k ... k + 3 of a row of x, zero beyond its end. k is a multiple of four.
vec4 factors(int row, int k) {
#ifdef PARTIAL
  if (k >= depth) return vec4(0);
#endif
#ifdef QUADS
  return load4_x((row * depth + k) >> 2);
#else
  vec4 four;
  [[unroll]] for (int j = 0; j < 4; ++j) four[j] = k + j < depth ? load_x(row * depth + min(k + j, depth - 1)) : 0.0;
  return four;
#endif
}

vec4 sum[TILE_S][TILE_P], zero[TILE_S], scale[TILE_S];
#ifndef SCALED_WEIGHTS
vec4 unit_sum[TILE_S][TILE_P];
#endif
#if defined(WIDE_LOADS)
uvec4 words[TILE_S][4][UNIT_WORDS / 4];
#elif defined(WORD_QUADS)
uvec4 words[TILE_S][4];

uint word_of_quad(uvec4 quad, int n) {
  uvec2 pair = mix(quad.xy, quad.zw, bvec2(n >= 2));
  return mix(pair.x, pair.y, (n & 1) == 1);
}
#endif

// Returns word n of a unit of four columns, whose words begin at `first`.
uvec4 words_of_unit(int s, ivec4 first, int n) {
#ifdef WIDE_LOADS
  uvec4 word;
  [[unroll]] for (int c = 0; c < 4; ++c) word[c] = words[s][c][n / 4][n % 4];
  return word;
#elif defined(WORD_QUADS)
  uvec4 word;
  [[unroll]] for (int c = 0; c < 4; ++c) word[c] = word_of_quad(words[s][c], n & 3);
  return word;
#else
  return uvec4(word_w(first.x + n), word_w(first.y + n), word_w(first.z + n), word_w(first.w + n));
#endif
}

// Adds the products of the integers of word n of each column with the elements of x from k on. Integers are masked and not
// shifted down within a half word: an integer and its zero point are 2^(BITS * at) times as large, and the scale or the factor
// is that much smaller, which is exact.
void add_words(ivec4 first[TILE_S], int n, int row[TILE_P], int k) {
  uvec4 word[TILE_S];
  [[unroll]] for (int s = 0; s < TILE_S; ++s) word[s] = words_of_unit(s, first[s], n);
  [[unroll]] for (int quad = 0; quad < WORD_INTEGERS / 4; ++quad) {
    vec4 x[TILE_P];
    [[unroll]] for (int i = 0; i < TILE_P; ++i) x[i] = factors(row[i], k + 4 * quad);
    [[unroll]] for (int s = 0; s < TILE_S; ++s)
      [[unroll]] for (int j = 0; j < 4; ++j) {
        int at = (4 * quad + j) % HALF_INTEGERS, half_word = (4 * quad + j) / HALF_INTEGERS;
        float up = float(1 << (BITS * at));
        ivec4 integers = ivec4(word[s] >> uint(16 * half_word)) & (MASK << (BITS * at));
        vec4 weights = vec4(integers) - zero[s] * up;
#ifdef SCALED_WEIGHTS
        weights *= scale[s] * (1.0 / up);
        [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] += x[i][j] * weights;
#else
        [[unroll]] for (int i = 0; i < TILE_P; ++i) unit_sum[s][i] += x[i][j] * (1.0 / up) * weights;
#endif
      }
  }
}

void start_unit(int s, ivec4 column, int unit) {
  int block = unit >> block_shift;
  [[unroll]] for (int c = 0; c < 4; ++c) {
    zero[s][c] = zero_point(column[c], block);
    scale[s][c] = load_scales(SCALE_STRIDE * (column[c] * blocks + block));
#ifdef WIDE_LOADS
    [[unroll]] for (int q = 0; q < UNIT_WORDS / 4; ++q)
      words[s][c][q] = words_w((column[c] * column_words + unit * UNIT_WORDS) / 4 + q);
#endif
  }
#ifndef SCALED_WEIGHTS
  [[unroll]] for (int i = 0; i < TILE_P; ++i) unit_sum[s][i] = vec4(0);
#endif
}

void main() {
  int quads = (y_columns + 3) >> 2;
  ivec2 position = divide(result_index(), (quads + TILE_S - 1) / TILE_S);
  int first_row = TILE_P * position.x, first_quad = TILE_S * position.y;
  if (first_row >= y_rows) return;

  int row[TILE_P];
  [[unroll]] for (int i = 0; i < TILE_P; ++i) row[i] = min(first_row + i, y_rows - 1);
  ivec4 column[TILE_S];
  [[unroll]] for (int s = 0; s < TILE_S; ++s) {
    column[s] = columns_of(first_quad + s);
    [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] = vec4(0);
  }
  for (int unit = FIRST_LANE; unit < units; unit += LANES) {
    ivec4 first[TILE_S];
    [[unroll]] for (int s = 0; s < TILE_S; ++s) {
      start_unit(s, column[s], unit);
      first[s] = column[s] * column_words + unit * UNIT_WORDS;
    }
#ifdef WIDE_LOADS
    [[unroll]]
#endif
    for (int n = 0; n < UNIT_WORDS; ++n) {
#ifdef WORD_QUADS
      if ((n & 3) == 0)
        [[unroll]] for (int s = 0; s < TILE_S; ++s)
          [[unroll]] for (int c = 0; c < 4; ++c) words[s][c] = words_w((first[s][c] + n) >> 2);
#endif
      add_words(first, n, row, unit * UNIT + n * WORD_INTEGERS);
    }
#ifndef SCALED_WEIGHTS
    [[unroll]] for (int s = 0; s < TILE_S; ++s)
      [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] += scale[s] * unit_sum[s][i];
#endif
  }

  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) {
      vec4 v = gather_sum(sum[s][i]);
#if HAS_BIAS
      v += vec4(load_bias(column[s].x), load_bias(column[s].y), load_bias(column[s].z), load_bias(column[s].w));
#endif
      if (FIRST_LANE == 0 && first_row + i < y_rows && first_quad + s < quads)
        store_y((first_row + i) * quads + first_quad + s, activate(v));
    }
}
