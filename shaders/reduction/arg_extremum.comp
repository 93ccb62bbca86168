// ArgMax, or with MIN ArgMin, along one axis of a linear tensor: y[o, i] = index k of the extremum of x[o, k, i].
// https://onnx.ai/onnx/operators/onnx__ArgMax.html
//
// SEGMENTED: stores the extremum of each segment of the axis in `values`, and where it is on the axis in `indices`.
// arg_parts.comp then combines the segments.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "arg_extremum.h"
#include "inf_nan.glsl"
#include "tensor.glsl"
#include "divide.glsl"
#include "arg_extremum.glsl"

LINEAR_IN(x)
#ifdef SEGMENTED
SCALARS_OUT(values)
SCALARS_OUT(indices)
#else
LINEAR_OUT(y)
#endif

// Returns the extremum of the elements from `begin` to `end` of the axis.
Extremum extremum(int i, int begin, int end) {
  int o = i / inner;
  int first = o * length * inner + i - o * inner;
  Extremum found = Extremum(load_x(first + begin * inner), begin);
  for (int k = begin + 1; k < end; ++k) found = join(found, Extremum(load_x(first + k * inner), k));
  return found;
}

#ifdef SEGMENTED

void main() {
  int id = flat_index();
  ivec2 by_segment = divide(id, count);
  int begin = by_segment.x * segment, end = min(begin + segment, length);
  if (begin >= length) return;
  Extremum found = extremum(by_segment.y, begin, end);
  set_values(id, found.value);
  set_indices(id, found.index);
}

#else

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  ivec4 v;
  for (int j = 0; j < 4; ++j) v[j] = extremum(min(4 * i4 + j, count - 1), 0, length).index;
  store_y(i4, v);
}

#endif
