// The gates of squeeze-and-excitation (Hu et al., Squeeze-and-Excitation Networks, arXiv 1709.01507, section 3):
//   y = gate(W2 activate(W1 mean(x) + B1) + B2), with the mean over rows and columns.
//
// A workgroup computes all channels of one image in three steps: means, hidden channels, y (gates.glsl). W1 and W2 are as in
// conv_tile.glsl, with one tap.
//
// With MEAN_ROUNDED means are rounded by the appended parameters mean_step, mean_least and mean_most. With HIDDEN_TABLE the
// first 256 elements of `tables` are a function of the rounded hidden channels, with GATE_TABLE the next 256 one of the rounded
// gates.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "squeeze_excite.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

TENSOR_IN(x)
TEXELS_IN(w1)
TEXELS_IN(w2)
TENSOR_OUT(y)

int lane = int(gl_LocalInvocationID.x);

#if defined(HIDDEN_TABLE) || defined(GATE_TABLE)
LINEAR_IN(tables)
#endif
#ifdef HIDDEN_TABLE
LOOK_UP_FN(look_up_hidden, load_tables, 0)
vec4 activate_hidden(vec4 v) { return look_up_hidden(activate(v)); }
#else
vec4 activate_hidden(vec4 v) { return activate(v); }
#endif
#include "gates.glsl"

vec4 rounded_mean(vec4 v) {
#ifdef MEAN_ROUNDED
  v = round_to_steps(v, mean_step, mean_least, mean_most);
#endif
  return v;
}

void take_means(int rows, int n) {
  int pixels = x_shape.x * x_shape.y, split_k = split_k_of(rows, pixels);
  ivec2 ahead = divide(split_k, x_shape.x);  // (rows, columns) from one pixel to the next
  for (int i = lane; i < rows * split_k; i += WORKGROUP_X) {
    ivec2 by_split = divide(i, split_k), at = divide(by_split.y, x_shape.x);
    vec4 sum = vec4(0);
    for (int pixel = by_split.y; pixel < pixels; pixel += split_k) {
      sum += load_x(ivec4(at.y, at.x, by_split.x, n));
      at += ahead;
      bool wraps = at.y >= x_shape.x;
      at += wraps ? ivec2(1, -x_shape.x) : ivec2(0);
    }
    partial_sums[i] = sum;
  }
  barrier();
  for (int row = lane; row < rows; row += WORKGROUP_X) values[row] = rounded_mean(mean_of(total(row, split_k), float(pixels)));
  barrier();
}

void main() {
  int n = int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x);
  if (n >= x_shape.w) return;
  int inputs = slices(x_shape.z);
  take_means(inputs, n);
  compute_hidden(inputs);
  STORE_GATES(store_y, slices(y_shape.z), n)
}
