// Merges the results of attention.comp with SPLIT_KEYS over the parts of the keys, as in Dao et al.,
// Flash-Decoding for long-context inference, 2023. An invocation computes one slice of a token of one head.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "attention_merge.h"
#include "tensor.glsl"
#include "divide.glsl"

#define y_shape ivec4(1, 1, 4 * y_slices, images * queries)
QUADS_IN(partial)
#include "attention_result.glsl"

const int PART = V_SLICES + 1;  // the last texel is (largest score, sum of weights)

void main() {
  ivec2 by_slice = divide(flat_index(), V_SLICES);
  ivec2 by_query = divide(by_slice.x, queries);
  ivec2 by_head = divide(by_query.x, heads);
  if (by_head.x >= images) return;
  int first = by_slice.x * key_parts * PART, end = first + key_parts * PART;
  float largest = load4_partial(first + V_SLICES).x;
  for (int part = first + PART; part < end; part += PART) largest = max(largest, load4_partial(part + V_SLICES).x);
  vec4 sum = vec4(0);
  float total = 0.0;
  for (int part = first; part < end; part += PART) {
    vec4 scores = load4_partial(part + V_SLICES);
    float keep = exp(scores.x - largest);
    total += keep * scores.y;
    sum += keep * load4_partial(part + by_slice.y);
  }
  store_result(by_head.x, by_head.y, by_query.y, by_slice.y, weighted_mean(sum, total));
}
