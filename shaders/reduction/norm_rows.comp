// Layer normalisation of rows of whole texels in one dispatch: y = (x - mean) / deviation * scale + bias, then an
// activation. An invocation, or several (cooperate.glsl), computes one row: with LINEAR_LAYOUT consecutive elements, else the
// channels of a pixel of channels4. MASKED: the last texel of a row has unused channels. UNCENTRED: uses a
// mean of 0 (RMSNormalization).
#version 450
#extension GL_GOOGLE_include_directive : require
#include "subgroup_arithmetic.glsl"

#include "norm_rows.h"
#define x_shape y_shape
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"
#include "cooperate.glsl"

#ifdef LINEAR_LAYOUT
QUADS_IN(x)
#else
TENSOR_IN(x)
#endif
TEXELS_IN(factors)  // row 0: scales, row 1: biases
#ifdef LINEAR_LAYOUT
#define LINEAR_RESULTS
LINEAR_OUT(y)
#else
TENSOR_OUT(y)
#endif
#include "epilogue.glsl"

void main() {
  int row = result_index();
  int length = y_shape.z, texels = slices(length);
#ifdef LINEAR_LAYOUT
  if (row >= y_shape.w) return;
  int first = row * texels;
#define LOAD(k) load4_x(first + (k))
#define STORE(k, v) store_result(first + (k), v)
#else
  ivec2 by_column = divide(row, y_shape.x), by_row = divide(by_column.x, y_shape.y);
  if (by_row.x >= y_shape.w) return;
#define AT(k) ivec4(by_column.y, by_row.y, k, by_row.x)
#define LOAD(k) load_x(AT(k))
#define STORE(k, v) store_result(AT(k), v)
#endif

#ifdef UNCENTRED
  const float mean = 0.0;
#else
  vec4 sum = vec4(0);
  for (int k = FIRST_LANE; k < texels; k += LANES) sum += LOAD(k);
  float mean = dot(gather_sum(sum), vec4(1)) / float(length);
#endif
  // A second pass for the variance: the mean of squares less the square of the mean would cancel.
  vec4 squares = vec4(0);
  for (int k = FIRST_LANE; k < texels; k += LANES) {
    vec4 d = LOAD(k) - mean;
#ifdef MASKED
    d = keep_channels(d, length - 4 * k);
#endif
    squares += d * d;
  }
  float variance = dot(gather_sum(squares), vec4(1)) / float(length);
  float factor = 1.0 / sqrt(variance + epsilon);
  for (int k = FIRST_LANE; k < texels; k += LANES)
    STORE(k, activate((LOAD(k) - mean) * (factor * load_factors(k, 0, texels)) + load_factors(k, 1, texels)));
}
