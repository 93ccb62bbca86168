// Reverses the first lengths[batch] elements along the time axis of each sequence of a linear tensor.
// https://onnx.ai/onnx/operators/onnx__ReverseSequence.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "reverse_sequence.h"
#include "tensor.glsl"
#include "element.glsl"
#include "divide.glsl"

LINEAR_IN(x)
LINEAR_IN(lengths)
LINEAR_OUT(y)

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  VECTOR v;
  for (int j = 0; j < 4; ++j) {
    int i = min(4 * i4 + j, count - 1);
    int t = divide(divide(i, time_stride).x, time_size).y;
    int sequence = load_lengths(divide(divide(i, batch_stride).x, batch_size).y);
    // A length beyond the axis is an error that a kernel cannot report; the clamp keeps the read inside x.
    int from = t < sequence ? clamp(sequence - 1 - t, 0, time_size - 1) : t;
    v[j] = load_x(i + (from - t) * time_stride);
  }
  store_y(i4, v);
}
