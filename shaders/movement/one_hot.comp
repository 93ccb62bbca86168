// y[o, k, i] = indices[o, i] == k ? values[1] : values[0] of linear tensors; a negative index counts from the end.
// https://onnx.ai/onnx/operators/onnx__OneHot.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "one_hot.h"
#include "tensor.glsl"
#include "element.glsl"
#include "divide.glsl"

LINEAR_IN(indices)
LINEAR_IN(values)
LINEAR_OUT(y)

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  VECTOR v;
  for (int j = 0; j < 4; ++j) {
    ivec2 by_inner = divide(min(4 * i4 + j, count - 1), inner);
    ivec2 by_depth = divide(by_inner.x, depth);
    int index = int(load_indices(by_depth.x * inner + by_inner.y));
    v[j] = load_values((index < 0 ? index + depth : index) == by_depth.y ? 1 : 0);
  }
  store_y(i4, v);
}
