// Computes four numbers for each row of a quantised tensor, which fixed_rows.comp reads for every element of the row. The
// `length` elements of a row are `inner` apart in memory. The four numbers:
//   SOFTMAX        (m, f, s, 0) with the largest integer m; the result is exp(x - m) * f * 2^-s
//   SOFTMAX, SHORT the same of integers of 16 bits
//   else           (f, s, 0, 0); the result is x * f * 2^-s
// graph/operators/reduction/fixed_rows.cpp has the same on the host.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "subgroup_arithmetic.glsl"

#include "fixed_rows_statistics.h"
#include "tensor.glsl"
#include "fixed_point.glsl"
#include "fixed_functions.glsl"
#include "cooperate.glsl"

LINEAR_IN(x)
#ifdef SOFTMAX
LINEAR_IN(exps)
#endif
#ifdef SHORT
LINEAR_IN(reciprocals)
#endif
LINEAR_OUT(statistics)

// The sum of all invocations, modulo 2^32. Each part has at most 11 bits, so that sums of floats are exact.
uint gather_integers(uint sum) {
  uvec4 parts = uvec4(gather_sum(vec4((uvec4(sum) >> uvec4(0, 11, 22, 31)) & uvec4(2047, 2047, 1023, 0))));
  return parts.x + (parts.y << 11) + (parts.z << 22);
}

int integer_at(int i) { return int(roundEven(load_x(i) / x_step)); }

#ifdef SHORT
ivec4 statistics_of(int most, uint sum) {
  int headroom = 31 - findMSB(sum);
  if (headroom <= 0 || headroom > 30) return ivec4(most, 0, 1, 0);
  // The sum as 17 bits and a rest, rounded.
  uint shifted = sum << (headroom - 1);
  int whole = int(shifted >> 14) + int((shifted >> 13) & 1u);
  int at = clamp(whole - (1 << 15) - (1 << 16), -32768, 32767), segment = 256 + (at >> 7);
  int low = load_reciprocals(segment), slope = load_reciprocals(segment + 1) - low;
  return ivec4(most, low + ((slope * (at & 127) + 64) >> 7), 31 - headroom, 0);
}
#elif defined(SOFTMAX)
ivec4 statistics_of(int most, uint sum) {
  int exponent;
  int factor = reciprocal(sum, 12, exponent);
  return ivec4(most, factor, exponent + 23, 0);
}
#endif

void main() {
  int r = result_index();
  if (r >= rows) return;
  int outer = r / inner, first = outer * length * inner + r - outer * inner;
  uint sum = 0;
#ifdef SOFTMAX
  vec4 largest = vec4(-INFINITY);
  for (int k = FIRST_LANE; k < length; k += LANES)
    largest = join_max(largest, vec4(float(integer_at(first + k * inner))));
  int most = int(gather_max(largest).x);
  for (int k = FIRST_LANE; k < length; k += LANES) {
    int value = load_exps(min(most - integer_at(first + k * inner), last));
#ifndef SHORT
    value = rounding_shift(value, 12);
#endif
    sum += uint(value);
  }
  sum = gather_integers(sum);
  if (FIRST_LANE == 0) store_statistics(r, statistics_of(most, sum));
#else
  for (int k = FIRST_LANE; k < length; k += LANES) {
    int v = integer_at(first + k * inner);
    sum += uint(v * v);
  }
  sum = gather_integers(sum);
  if (FIRST_LANE == 0) store_statistics(r, ivec4(inverse_square_root(int(sum)), 0, 0));
#endif
}
