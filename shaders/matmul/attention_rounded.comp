// Computes Y = round_weights(softmax(round_scores(scale * Q K^T) + mask)) V, as quantised models do, without storing scores or
// weights in memory. Weights can be rounded once the sum of all of them is known, so there are two loops over the keys: the
// first finds the largest score of a token and the sum of its weights, the second computes the scores again.
//
// An invocation computes TILE_Q tokens of one head with V_SLICES slices of four channels each (the last has LAST_CHANNELS),
// and reads four keys at a time. attention_operands.glsl says how Q, K and V are stored. `roundings` has a texel (step, least,
// most, 0) for the scores, which are not rounded if the step is 0, and one for the weights.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "attention_operands.glsl"
#include "attention_result.glsl"
#include "round_to_steps.glsl"

TEXELS_IN(roundings)

int first_q, first_k, first_v, k_column, k_step, mask_base;
vec4 of_scores, of_weights;  // the texels of `roundings`

ivec4 columns_of_keys(int key) { return k_column + k_step * min(key + ivec4(0, 1, 2, 3), ivec4(keys - 1)); }

// Returns the scores of TILE_Q tokens and four keys. Keys after the last one have minus infinity.
vec4[TILE_Q] scores_of(ADDRESS_Q token[TILE_Q], int first, int key) {
  ivec4 next_keys = key + ivec4(0, 1, 2, 3), column = columns_of_keys(key);
  vec4 end_mask = mix(vec4(0), vec4(MINUS_INFINITY), greaterThanEqual(next_keys, ivec4(keys)));
  ADDRESS_K k0_at = locate_k(column.x, first_k), k1_at = locate_k(column.y, first_k);
  ADDRESS_K k2_at = locate_k(column.z, first_k), k3_at = locate_k(column.w, first_k);
  vec4 score[TILE_Q];
  [[unroll]] for (int i = 0; i < TILE_Q; ++i) score[i] = vec4(0);
  for (int d = 0; d < depth_slices; ++d) {
    vec4 k0 = next_k(k0_at, first_k + d), k1 = next_k(k1_at, first_k + d);
    vec4 k2 = next_k(k2_at, first_k + d), k3 = next_k(k3_at, first_k + d);
    [[unroll]] for (int i = 0; i < TILE_Q; ++i) {
      vec4 q = next_q(token[i], first_q + d);
      score[i] += vec4(dot(q, k0), dot(q, k1), dot(q, k2), dot(q, k3));
    }
  }
  [[unroll]] for (int i = 0; i < TILE_Q; ++i) {
    score[i] *= scale;
    if (of_scores.x != 0.0) score[i] = round_to_steps(score[i], of_scores.x, of_scores.y, of_scores.z);
    score[i] = masked(score[i], min(first + i, queries - 1), next_keys, mask_base, end_mask);
  }
  return score;
}

void main() {
  ivec2 by_query = divide(flat_index(), (queries + TILE_Q - 1) / TILE_Q);
  ivec2 by_head = divide(by_query.x, heads);
  int first = TILE_Q * by_query.y, head = by_head.y, image = by_head.x;
  if (image >= images) return;
  int kv_head = divide(head, heads_per_kv).x;
#ifdef MATRICES
  first_q = q_row + head * q_head_rows, first_k = k_row + kv_head * k_head_rows, first_v = v_row + kv_head * v_head_rows;
  int q_column = image * q_image_columns, q_step = q_token_columns;
  k_column = image * kv_image_columns, k_step = kv_token_columns;
#else
  first_q = head * depth_slices, first_k = k_row + kv_head * depth_slices, first_v = v_row + kv_head * V_SLICES;
  int q_column = image * queries, q_step = 1;
  k_column = image * keys, k_step = 1;
#endif
  mask_base = image * mask_image_stride + head * mask_head_stride;
  of_scores = load_roundings(0, 0, 2);
  of_weights = load_roundings(1, 0, 2);
  ADDRESS_Q token[TILE_Q];  // tokens after the last one repeat it and are not stored
  [[unroll]] for (int i = 0; i < TILE_Q; ++i)
    token[i] = locate_q(q_column + q_step * min(first + i, queries - 1), first_q);

  float largest[TILE_Q], total[TILE_Q];
  [[unroll]] for (int i = 0; i < TILE_Q; ++i) {
    largest[i] = LOWEST;
    total[i] = 0.0;
  }
  for (int key = 0; key < keys; key += 4) {
    vec4 score[TILE_Q] = scores_of(token, first, key);
    [[unroll]] for (int i = 0; i < TILE_Q; ++i) {
      float most = max(max(max(score[i].x, score[i].y), max(score[i].z, score[i].w)), largest[i]);
      total[i] = total[i] * exp(largest[i] - most) + dot(exp(score[i] - most), vec4(1));
      largest[i] = most;
    }
  }

  vec4 sum[V_SLICES][TILE_Q];
  [[unroll]] for (int s = 0; s < V_SLICES; ++s)
    [[unroll]] for (int i = 0; i < TILE_Q; ++i) sum[s][i] = vec4(0);
  for (int key = 0; key < keys; key += 4) {
    vec4 weight[TILE_Q] = scores_of(token, first, key);
    [[unroll]] for (int i = 0; i < TILE_Q; ++i) {
      weight[i] = round_to_steps(weighted_mean(exp(weight[i] - largest[i]), total[i]), of_weights.x, of_weights.y, of_weights.z);
      // A key after the last one has no weight, also where the rounding's least is above 0.
      weight[i] = mix(weight[i], vec4(0), greaterThanEqual(key + ivec4(0, 1, 2, 3), ivec4(keys)));
    }
    ivec4 column = columns_of_keys(key);
    ADDRESS_V v0_at = locate_v(column.x, first_v), v1_at = locate_v(column.y, first_v);
    ADDRESS_V v2_at = locate_v(column.z, first_v), v3_at = locate_v(column.w, first_v);
    [[unroll]] for (int s = 0; s < V_SLICES; ++s) {
      vec4 v0 = next_v(v0_at, first_v + s), v1 = next_v(v1_at, first_v + s);
      vec4 v2 = next_v(v2_at, first_v + s), v3 = next_v(v3_at, first_v + s);
      [[unroll]] for (int i = 0; i < TILE_Q; ++i)
        sum[s][i] += weight[i].x * v0 + weight[i].y * v1 + weight[i].z * v2 + weight[i].w * v3;
    }
  }
  [[unroll]] for (int i = 0; i < TILE_Q; ++i)
    if (first + i < queries)
      [[unroll]] for (int s = 0; s < V_SLICES; ++s) store_result(image, head, first + i, s, sum[s][i]);
}
