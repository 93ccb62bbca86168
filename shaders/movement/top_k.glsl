// The order of TopK: SMALLEST or else largest elements first, NaN after all numbers, of equal ones the first.

#include "inf_nan.glsl"

// Whether v comes before w wherever they are.
bool is_before(SCALAR v, SCALAR w) {
#ifdef SMALLEST
  bool before = v < w;
#else
  bool before = v > w;
#endif
#ifndef INTEGER
  before = before || (isnan(w) && !isnan(v));
#endif
  return before;
}

// Whether element v at i comes before w at j.
bool precedes(SCALAR v, int i, SCALAR w, int j) { return is_before(v, w) || (i < j && !is_before(w, v)); }
