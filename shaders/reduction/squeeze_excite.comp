// The gates of squeeze-and-excitation (Hu et al., Squeeze-and-Excitation Networks, arXiv 1709.01507, section 3):
//   y = gate(W2 activate(W1 mean(x) + B1) + B2), with the mean over rows and columns.
//
// A workgroup computes all channels of one image in three steps: means, hidden channels, y. In each step the texels of the
// result are rows, which one or more invocations sum in parts; shared memory holds what the next step reads. W1 and W2 are
// as in conv_tile.glsl, with one tap.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "squeeze_excite.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

TENSOR_IN(x)
TEXELS_IN(w1)
TEXELS_IN(w2)
TENSOR_OUT(y)

shared vec4 values[MOST_SLICES];      // results of the previous step
shared vec4 part_sums[MOST_SLICES];   // at row * parts + part

int lane = int(gl_LocalInvocationID.x);

// Invocations to a row.
int parts_of(int rows, int columns) { return clamp(divide(WORKGROUP_X, rows).x, 1, columns); }

vec4 total(int row, int parts) {
  vec4 sum = vec4(0);
  for (int part = 0; part < parts; ++part) sum += part_sums[row * parts + part];
  return sum;
}

void take_means(int rows, int n) {
  int pixels = x_shape.x * x_shape.y, parts = parts_of(rows, pixels);
  ivec2 ahead = divide(parts, x_shape.x);  // (rows, columns) from one pixel to the next
  for (int i = lane; i < rows * parts; i += WORKGROUP_X) {
    ivec2 by_part = divide(i, parts), at = divide(by_part.y, x_shape.x);
    vec4 sum = vec4(0);
    for (int pixel = by_part.y; pixel < pixels; pixel += parts) {
      sum += load_x(ivec4(at.y, at.x, by_part.x, n));
      at += ahead;
      bool wraps = at.y >= x_shape.x;
      at += wraps ? ivec2(1, -x_shape.x) : ivec2(0);
    }
    part_sums[i] = sum;
  }
  barrier();
  for (int row = lane; row < rows; row += WORKGROUP_X) values[row] = total(row, parts) / float(pixels);
  barrier();
}

// Multiplies `columns` texels of `values` by a matrix of `rows` rows, into part_sums.
#define PRODUCT_FN_(name, load)                                                            \
  int name(int rows, int columns) {                                                        \
    int parts = parts_of(rows, columns), width = 4 * columns;                              \
    for (int i = lane; i < rows * parts; i += WORKGROUP_X) {                               \
      ivec2 by_part = divide(i, parts);                                                    \
      int row = by_part.x;                                                                 \
      vec4 sum = vec4(0);                                                                  \
      for (int k = by_part.y; k < columns; k += parts) {                                   \
        vec4 v = values[k];                                                                \
        sum += v.x * load(4 * k, row, width) + v.y * load(4 * k + 1, row, width) +         \
               v.z * load(4 * k + 2, row, width) + v.w * load(4 * k + 3, row, width);      \
      }                                                                                    \
      part_sums[i] = sum;                                                                  \
    }                                                                                      \
    barrier();                                                                             \
    return parts;                                                                          \
  }
PRODUCT_FN_(multiply_w1, load_w1)
PRODUCT_FN_(multiply_w2, load_w2)

vec4 gate(vec4 v) {
  activation_constants = gate_params;
  v = CAT(activation_, GATE)(v);
#ifdef GATE_SCALED
  v = gate_params.z * v + gate_params.w;
#endif
  return v;
}

void main() {
  int n = int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x);
  if (n >= x_shape.w) return;
  int inputs = slices(x_shape.z), hidden = slices(hidden_channels), outputs = slices(y_shape.z);
  take_means(inputs, n);

  int parts = multiply_w1(hidden, inputs);
  for (int row = lane; row < hidden; row += WORKGROUP_X) {
    ivec2 bias = divide(row, 4 * inputs);
    vec4 sum = total(row, parts) + load_w1(bias.y, hidden + bias.x, 4 * inputs);
    values[row] = keep_channels(activate(sum), hidden_channels - 4 * row);
  }
  barrier();

  parts = multiply_w2(outputs, hidden);
  for (int row = lane; row < outputs; row += WORKGROUP_X) {
    ivec2 bias = divide(row, 4 * hidden);
    vec4 sum = total(row, parts) + load_w2(bias.y, outputs + bias.x, 4 * hidden);
    store_y(ivec4(0, 0, row, n), gate(sum));
  }
}
