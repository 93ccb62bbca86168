// The order of TopK as one of integers: SMALLEST or else largest elements first, NaN after all numbers, of equal ones the first.

#include "inf_nan.glsl"

// Elements with smaller keys come first.
#ifdef INTEGER
int key_of(int v) {
  int key = v;
#else
int key_of(float v) {
  if (isnan(v)) return 0x7fffffff;
  // The bits of floats are in order but for the sign; both zeros are equal.
  int bits = v == 0.0 ? 0 : floatBitsToInt(v);
  int key = bits < 0 ? bits ^ 0x7fffffff : bits;
#endif
#ifdef SMALLEST
  return key;
#else
  return ~key;
#endif
}

// Whether the element with key v at i comes before the one with key w at j.
bool precedes(int v, int i, int w, int j) { return v < w || (v == w && i < j); }
