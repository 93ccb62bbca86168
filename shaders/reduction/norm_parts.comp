// Combines the statistics of the segments of each row of a linear tensor (norm_statistics.comp) to (mean, 1 / standard
// deviation, 0, 0) of the row, as in Chan, Golub, LeVeque, Algorithms for computing the sample variance, 1983. An invocation,
// or several (cooperate.glsl), computes one row.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "subgroup_arithmetic.glsl"

#include "norm_parts.h"
#include "tensor.glsl"
#include "cooperate.glsl"

LINEAR_IN(parts)
LINEAR_OUT(statistics)

void main() {
  int r = result_index();
  if (r >= rows) return;
  int first = r * segments;
  float sum = 0.0;
  for (int k = FIRST_LANE; k < segments; k += LANES) {
    vec4 part = load4_parts(first + k);
    sum += part.x * part.z;
  }
  float mean = gather_sum(vec4(sum)).x / float(length);
  float squares = 0.0;
  for (int k = FIRST_LANE; k < segments; k += LANES) {
    vec4 part = load4_parts(first + k);
    float d = part.x - mean;
    squares += part.y + part.z * d * d;
  }
  float variance = gather_sum(vec4(squares)).x / float(length);
  if (FIRST_LANE == 0) store_statistics(r, vec4(mean, 1.0 / sqrt(variance + epsilon), 0, 0));
}
