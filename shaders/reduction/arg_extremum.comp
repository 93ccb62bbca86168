// ArgMax, or with MIN ArgMin, along one axis of a linear tensor: y[o, i] = index k of the extremum of x[o, k, i].
// https://onnx.ai/onnx/operators/onnx__ArgMax.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "arg_extremum.h"
#include "tensor.glsl"

LINEAR_IN(x)
LINEAR_OUT(y)

int extremum(int i) {
  int o = i / inner;
  int first = o * length * inner + i - o * inner;
  float best = load_x(first);
  int index = 0;
  for (int k = 1; k < length; ++k) {
    float v = load_x(first + k * inner);
#ifdef MIN
    bool better = v < best;
#else
    bool better = v > best;
#endif
    if (better || (last != 0 && v == best)) {
      best = v;
      index = k;
    }
  }
  return index;
}

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  ivec4 v;
  for (int j = 0; j < 4; ++j) v[j] = extremum(min(4 * i4 + j, count - 1));
  store_y(i4, v);
}
