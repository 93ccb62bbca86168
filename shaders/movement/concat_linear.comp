// Copies the rows of the linear tensors x0, x1, ... into the rows of y, from column `begin` on, one after the other.
//
// INPUTS: concat_parts.glsl.
// ALIGNED: columns where parts begin, and lengths of rows, are multiples of four.
// KEEP: other dispatches write other columns. A group of four elements of y that the parts fill only partially is read,
// modified and written.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#include "concat_linear.h"
#include "concat_parts.glsl"
#include "tensor.glsl"
#include "element.glsl"

#ifdef ALIGNED
#define DECLARE_PART(x, first, end) LINEAR_IN(x)
FOR_PARTS(DECLARE_PART)
LINEAR_OUT(y)

void main() {
  int i4 = flat_index();
  if (i4 >= count4) return;
  int columns4 = further_ends.w - begin >> 2, r = i4 / columns4, column = begin + 4 * (i4 - r * columns4);
  VECTOR v = VECTOR(0);
#define LOAD_WHERE_INSIDE(x, first, end) \
  if (column >= first && column < end) v = CAT(load4_, x)((r * (end - (first)) + column - (first)) >> 2);
  FOR_PARTS(LOAD_WHERE_INSIDE)
  store_y(r * y_length + column >> 2, v);
}

#else
#define DECLARE_PART(x, first, end) LINEAR_IN(x)
FOR_PARTS(DECLARE_PART)
#ifdef KEEP
LINEAR_INOUT(y)
#else
LINEAR_OUT(y)
#endif

void main() {
  int i4 = flat_index();
  if (i4 >= count4) return;
  i4 += first4;
#ifdef KEEP
  VECTOR v = load4_y(i4);
#else
  VECTOR v = VECTOR(0);
#endif
  bool changed = false;
  for (int j = 0; j < 4; ++j) {
    int r = (4 * i4 + j) / y_length, column = 4 * i4 + j - r * y_length;
    if (r >= rows) break;
#define LOAD_ELEMENT(x, first, end)                                     \
  if (column >= first && column < end) {                                \
    v[j] = CAT(load_, x)(r * (end - (first)) + column - (first));       \
    changed = true;                                                     \
  }
    FOR_PARTS(LOAD_ELEMENT)
  }
  if (changed) store_y(i4, v);
}

#endif
