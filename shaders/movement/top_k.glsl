// Integer keys for the order of TopK: with SMALLEST the smallest elements first, else the largest; NaN after
// all numbers; among equals the lower index first.

#include "inf_nan.glsl"

// Elements with smaller keys come first.
#ifdef INTEGER
int key_of(int v) {
  int key = v;
#else
int key_of(float v) {
  if (is_nan(v)) return 0x7fffffff;
  // The bits of floats are ordered like the floats except for the sign; both zeros are equal.
  int bits = v == 0.0 ? 0 : floatBitsToInt(v);
  int key = bits < 0 ? bits ^ 0x7fffffff : bits;
#endif
#ifdef SMALLEST
  return key;
#else
  return ~key;
#endif
}

// Returns whether the element with key v at i precedes the element with key w at j.
bool precedes(int v, int i, int w, int j) { return v < w || (v == w && i < j); }
