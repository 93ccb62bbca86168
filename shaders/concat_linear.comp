// Puts the linear tensor x, seen as `rows` rows of `length` elements, into the rows of y from column `begin` on.
// ALIGNED: begin, length and row are multiples of four. Else y's groups of four elements that x shares with its
// neighbours are read, changed and written.
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Params {
  int rows;
  int length;
  int begin;
  int row;     // elements of a row of y
  int first4;  // not ALIGNED: the groups of four elements of y that are visited
  int count4;
};

#include "tensor.glsl"
#include "element.glsl"

LINEAR_IN(0, x)
#ifdef ALIGNED
LINEAR_OUT(1, y)

void main() {
  int i4 = flat_index(), length4 = length >> 2;
  if (i4 >= rows * length4) return;
  int r = i4 / length4;
  store_y((r * row + begin >> 2) + i4 - r * length4, load4_x(i4));
}

#else
LINEAR_INOUT(1, y)

void main() {
  int i4 = flat_index();
  if (i4 >= count4) return;
  i4 += first4;
  VECTOR v = load4_y(i4);
  bool changed = false;
  for (int j = 0; j < 4; ++j) {
    int r = (4 * i4 + j) / row;
    int column = 4 * i4 + j - r * row - begin;
    if (r < rows && column >= 0 && column < length) {
      v[j] = load_x(r * length + column);
      changed = true;
    }
  }
  if (changed) store_y(i4, v);
}

#endif
