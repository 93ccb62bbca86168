// Functions of fixed-point numbers of 32 bits, as on the host (graph/operators/elementwise/fixed_functions.hpp), which cites the
// source. Qm.n: a number times 2^n, with m bits for its whole part.
#ifndef FIXED_FUNCTIONS_GLSL
#define FIXED_FUNCTIONS_GLSL

// Returns a * b / 2^31, halves rounded up.
int high_product(int a, int b) {
  int high, low;
  imulExtended(a, b, high, low);
  return int(uint(high) << 1) + int(((uint(low) >> 30) + 1u) >> 1);
}

// Returns x / 2^bits, halves rounded away from zero. bits <= 31.
int rounding_shift(int x, int bits) {
  int mask = int((1u << bits) - 1u);
  return (x >> bits) + int((x & mask) > (mask >> 1) + int(x < 0));
}

int saturating_shift_left(int x, int bits) {
  int most = 0x7fffffff >> bits;
  return x > most ? 0x7fffffff : x < -most - 1 ? int(0x80000000u) : x << bits;
}

// Returns 1 / (1 + x) in Q0.31 for x in [0, 1), by Newton's method.
int reciprocal_of_one_plus(int x) {
  int half_denominator = (x >> 1) + (1 << 30);
  int y = 1515870810 + high_product(half_denominator, -1010580540);  // 48/17, 32/17 in Q2.29
  for (int i = 0; i < 3; ++i) {
    int rest = (1 << 29) - high_product(half_denominator, y);
    y += saturating_shift_left(high_product(y, rest), 2);
  }
  return saturating_shift_left(y, 1);
}

// Returns 1 / x in Q0.31 after x is divided by 2^exponent, so that it is in [1, 2). x has `whole_bits` before the binary point.
int reciprocal(uint x, int whole_bits, out int exponent) {
  int headroom = 31 - findMSB(x);
  exponent = whole_bits - headroom;
  return reciprocal_of_one_plus(int((x << headroom) - 0x80000000u));
}

// Returns the factor (f, s) with f * 2^(-31 - s) = 1 / sqrt(x). x >= 0; zero counts as one.
ivec2 inverse_square_root(int x) {
  if (x <= 1) return ivec2(0x7fffffff, 0);
  int shift = 11;
  for (int i = 0; i < 2 && x >= 1 << 29; ++i) {
    x >>= 2;
    ++shift;
  }
  int pairs = (30 - findMSB(uint(x))) / 2 - 1;
  shift -= pairs;
  x <<= 2 * pairs;
  int number = x >> 1, half_of_it = rounding_shift(number, 1);  // Q3.28
  int y = 1 << 28;
  for (int i = 0; i < 5; ++i) {
    int cube = saturating_shift_left(high_product(high_product(y, y), y), 6);
    y = saturating_shift_left(high_product((1 << 28) + (1 << 27), y) - high_product(half_of_it, cube), 3);
  }
  y = high_product(y, 1518500250);  // sqrt(1/2)
  return shift < 0 ? ivec2(y << -shift, 0) : ivec2(y, shift);
}

#endif
