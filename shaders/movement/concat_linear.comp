// Copies the rows of the linear tensor x into the rows of y, from column `begin` on. ALIGNED: begin, x_length
// and y_length are multiples of four. Otherwise a group of four elements of y that x fills only in part is
// read, modified and written.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#include "concat_linear.h"
#include "tensor.glsl"
#include "element.glsl"

LINEAR_IN(x)
#ifdef ALIGNED
LINEAR_OUT(y)

void main() {
  int i4 = flat_index(), length4 = x_length >> 2;
  if (i4 >= rows * length4) return;
  int r = i4 / length4;
  store_y((r * y_length + begin >> 2) + i4 - r * length4, load4_x(i4));
}

#else
LINEAR_INOUT(y)

void main() {
  int i4 = flat_index();
  if (i4 >= count4) return;
  i4 += first4;
  VECTOR v = load4_y(i4);
  bool changed = false;
  for (int j = 0; j < 4; ++j) {
    int r = (4 * i4 + j) / y_length;
    int column = 4 * i4 + j - r * y_length - begin;
    if (r < rows && column >= 0 && column < x_length) {
      v[j] = load_x(r * x_length + column);
      changed = true;
    }
  }
  if (changed) store_y(i4, v);
}

#endif
