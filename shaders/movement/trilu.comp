// The upper or lower triangle of each matrix of a linear tensor, from diagonal k on; zero elsewhere.
// https://onnx.ai/onnx/operators/onnx__Trilu.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "trilu.h"
#include "tensor.glsl"
#include "element.glsl"
#include "divide.glsl"

LINEAR_IN(x)
LINEAR_OUT(y)
#ifdef COMPUTED_K
LINEAR_IN(diagonal)
#endif

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
#ifdef COMPUTED_K
  int first = load_diagonal(0);
#else
  int first = k;
#endif
  VECTOR v = load4_x(i4);
  for (int j = 0; j < 4; ++j) {
    ivec2 by_column = divide(4 * i4 + j, columns);
    int at = by_column.y - divide(by_column.x, rows).y;
    if (upper != 0 ? at < first : at > first) v[j] = SCALAR(0);
  }
  store_y(i4, v);
}
