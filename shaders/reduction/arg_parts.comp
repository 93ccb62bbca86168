// ArgMax, or with MIN ArgMin, from the extrema of segments of the axis and their indices (arg_extremum.comp).
#version 450
#extension GL_GOOGLE_include_directive : require

#include "arg_parts.h"
#include "inf_nan.glsl"
#include "tensor.glsl"
#include "arg_extremum.glsl"

LINEAR_IN(values)
LINEAR_IN(indices)
LINEAR_OUT(y)

int extremum(int i) {
  Extremum found = Extremum(load_values(i), load_indices(i));
  for (int k = 1; k < segments; ++k) {
    int at = k * count + i;
    found = join(found, Extremum(load_values(at), load_indices(at)));
  }
  return found.index;
}

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  ivec4 v;
  for (int j = 0; j < 4; ++j) v[j] = extremum(min(4 * i4 + j, count - 1));
  store_y(i4, v);
}
