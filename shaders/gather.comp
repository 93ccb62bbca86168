// Gather along one axis of a linear tensor: y[o, k, i] = x[o, indices[k], i]. Negative indices count from the end.
// https://onnx.ai/onnx/operators/onnx__Gather.html
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Params {
  int count;   // elements of y
  int length;  // of the axis in x
  int chosen;  // number of indices
  int inner;   // elements behind the axis
};

#include "tensor.glsl"
#include "element.glsl"

LINEAR_IN(0, x)
LINEAR_IN(1, indices)
LINEAR_OUT(2, y)

SCALAR element(int i) {
  int rest = i / inner;
  int o = rest / chosen;
  int k = load_indices(rest - o * chosen);
  // An index out of range is an error that a kernel cannot report; the clamp keeps the read inside x.
  k = clamp(k < 0 ? k + length : k, 0, length - 1);
  return load_x((o * length + k) * inner + i - rest * inner);
}

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  VECTOR v;
  for (int j = 0; j < 4; ++j) v[j] = element(min(4 * i4 + j, count - 1));
  store_y(i4, v);
}
