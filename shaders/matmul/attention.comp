// Computes softmax(cap(scale * Q K^T) + mask) V without storing the scores in memory. The softmax is computed online: the keys are
// read one after another, and the sums so far are rescaled whenever a larger score occurs (Milakov and Gimelshein, Online
// normalizer calculation for softmax, 2018, algorithm 3; Dao et al., FlashAttention, 2022, section 3.1).
//
// An invocation computes TILE_Q tokens of one head with V_SLICES slices of four channels each (the last has
// LAST_CHANNELS), and reads four keys at a time. Q, K and V are stored in one of three ways:
//   by default   rows of one grid of texels (attention_pack.comp)
//   MATRICES     columns of matrices in channels4, all in one tensor or with SEPARATE in three; with PICTURES pixels instead
//   CACHE        three linear tensors, whose heads are whole slices of channels; with BYTE_ROWS K and V are in bytes
//
// With SPLIT_KEYS an invocation reads one of key_parts parts of the keys. For each token it stores V_SLICES
// sums that are not normalised yet, and a texel with the largest score and the sum of weights;
// attention_merge.comp merges the parts.
//
// With SHARE_KEYS a workgroup computes fewer tokens: SHARE_KEYS of its invocations read a part of the keys each, and merge
// their sums in shared memory.
//
// With AHEAD the texels of Q and K of AHEAD slices are loaded together, before they are multiplied.
//
// With KEY_BY_KEY a loop multiplies the values of one key after another, for compilers that would otherwise
// load the values of all four keys at once and run out of registers.
//
// With FMA fma() adds products, for compilers that do not contract products and sums in shaders that compute with infinities.
//
// With LENGTHS only the first `lengths` tokens of K and V are valid in each image, and the tokens of Q are the last of these.
// The loop over keys ends after them. With WINDOW a token of Q attends to the WINDOW tokens that end with its own.
//
// With SINKS each head has one more score, whose weight belongs to no value: the softmax begins with it instead of with nothing.
// Where the keys are split, the first part begins with it.
//
// With KEY_BIAS each head and key has a number that is added to the scores beside the mask; with BIAS_OF_IMAGES each image has its
// own.
//
// With HALF_PRODUCTS the products with values are accumulated in fp16 over HALF_PRODUCTS times four keys, and each partial
// sum is added to an fp32 accumulator. No partial sum of finite halves overflows: weights are at most 1, and are divided by
// twice the number of terms; the factor of two leaves space for rounding errors. Scores remain fp32, because Q and K are
// unbounded.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef HALF_PRODUCTS
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif

#include "attention_operands.glsl"
#ifdef SPLIT_KEYS
LINEAR_OUT(partial)
#else
#include "attention_result.glsl"
#endif

#ifdef HALF_PRODUCTS
#ifdef MATRICES
#ifdef SEPARATE
HALVES_OF_TENSOR(v)
#else
HALVES_OF_TENSOR(q)
#define load_half_v load_half_q
#endif
f16vec4 half_v(int column, int row) { return load_half_v(position_in_v(column, row)); }
#else
HALVES_OF_TEXELS(grid)
f16vec4 half_v(int column, int row) { return load_half_grid(column, row, grid_width); }
#endif
const float RUN_SCALE = 8.0 * HALF_PRODUCTS;
const int RUN_KEYS = 4 * HALF_PRODUCTS;
#define FIRST_KEYS RUN_KEYS
#else
#define FIRST_KEYS 4
#endif

#ifdef SHARE_KEYS
const int TOKENS = WORKGROUP_X / SHARE_KEYS;  // tiles of TILE_Q tokens of a workgroup
shared vec2 part_scores[WORKGROUP_X];         // the largest score and the sum of weights
shared vec4 part_sums[SHARE_KEYS * WORKGROUP_X];
#endif

#ifdef FMA
#define ADD_PRODUCT(sum, a, b) sum = fma(vec4(a), b, sum)
#else
#define ADD_PRODUCT(sum, a, b) sum += a * b
#endif

// Adds the products of q with each key. A dot() would begin with a product, and be added to the sum by another instruction.
vec4 add_products(vec4 sum, vec4 q, vec4 k0, vec4 k1, vec4 k2, vec4 k3) {
  [[unroll]] for (int c = 0; c < 4; ++c) ADD_PRODUCT(sum, q[c], vec4(k0[c], k1[c], k2[c], k3[c]));
  return sum;
}

void main() {
#ifdef SHARE_KEYS
  int lane = int(gl_LocalInvocationIndex), of_workgroup = lane % TOKENS, part_number = lane / TOKENS;
  int tile = workgroup_index() * TOKENS + of_workgroup;
  // Invocations after the last token repeat it, and store nothing.
  bool is_stored = tile < queries * heads * images;
  tile = min(tile, queries * heads * images - 1);
#else
  int tile = flat_index();
#endif
  ivec2 by_query = divide(tile, (queries + TILE_Q - 1) / TILE_Q);
  ivec2 by_head = divide(by_query.x, heads);
  int first = TILE_Q * by_query.y, head = by_head.y, image = by_head.x;
#ifdef SHARE_KEYS
  int first_key = part_number * part_keys, end = min(first_key + part_keys, keys);
#elif defined(SPLIT_KEYS)
  ivec2 by_image = divide(image, images);
  int part_number = by_image.x;
  image = by_image.y;
  if (part_number >= key_parts) return;
  int first_key = part_number * part_keys, end = min(first_key + part_keys, keys);
#else
  if (image >= images) return;
#ifdef WINDOW
  int first_key = 0;
#else
  const int first_key = 0;
#endif
  int end = keys;
#endif
#ifdef LENGTHS
  valid_keys = min(load_lengths(image), keys);
  first_position = valid_keys - queries;
#ifdef CAUSAL
  end = min(end, POSITION(min(first + TILE_Q, queries)));  // after the last key that a token of Q sees
#else
  end = min(end, valid_keys);
#endif
#ifdef WINDOW
  first_key = max(first_key, max(POSITION(first) - WINDOW, 0) / FIRST_KEYS * FIRST_KEYS);
#endif
#endif
  int kv_head = divide(head, heads_per_kv).x;
#ifdef MATRICES
  int first_q = q_row + head * q_head_rows, first_k = k_row + kv_head * k_head_rows, first_v = v_row + kv_head * v_head_rows;
#ifdef PICTURES
  picture = image;
  const int q_column = 0, k_column = 0, q_step = 1, k_step = 1;
#else
  int q_column = image * q_image_columns, q_step = q_token_columns;
  int k_column = image * kv_image_columns, k_step = kv_token_columns;
#endif
#elif defined(CACHE)
  const int first_q = 0, first_k = 0, first_v = 0, q_column = 0, k_column = 0, q_step = 1, k_step = 1;
  q_first = image * q_image_stride + head * q_head_stride;
  k_first = image * k_image_stride + kv_head * k_head_stride;
  v_first = image * v_image_stride + kv_head * v_head_stride;
#else
  int first_q = head * depth_slices, first_k = k_row + kv_head * depth_slices, first_v = v_row + kv_head * V_SLICES;
  int q_column = image * queries, k_column = image * keys;
  const int q_step = 1, k_step = 1;
#endif
  ADDRESS_Q token[TILE_Q];  // tokens after the last one repeat it and are not stored
  [[unroll]] for (int i = 0; i < TILE_Q; ++i)
    token[i] = locate_q(q_column + q_step * min(first + i, queries - 1), first_q);
  int mask_base = image * mask_image_stride + head * mask_head_stride;
#ifdef KEY_BIAS
#ifdef BIAS_OF_IMAGES
  first_bias = (image * heads + head) * keys;
#else
  first_bias = head * keys;
#endif
#endif

#ifdef SINKS
#if defined(SHARE_KEYS) || defined(SPLIT_KEYS)
  bool has_sink = part_number == 0;
#else
  const bool has_sink = true;
#endif
  float first_score = has_sink ? max(load_sinks(head), LOWEST) : LOWEST;
  float first_total = has_sink ? 1.0 : 0.0;
#else
  const float first_score = LOWEST, first_total = 0.0;
#endif
  vec4 sum[V_SLICES][TILE_Q];
  float largest[TILE_Q], total[TILE_Q];
  [[unroll]] for (int i = 0; i < TILE_Q; ++i) {
    largest[i] = first_score;
    total[i] = first_total;
    [[unroll]] for (int s = 0; s < V_SLICES; ++s) sum[s][i] = vec4(0);
  }
#ifdef HALF_PRODUCTS
  f16vec4 run_sum[V_SLICES][TILE_Q];
  float kept[TILE_Q];  // factor by which the sum was rescaled since the run began
#endif
  for (int key = first_key; key < end; key += 4) {
    // Keys after the last one repeat it with weight 0.
    ivec4 next_keys = key + ivec4(0, 1, 2, 3);
    ivec4 column = k_column + k_step * min(next_keys, ivec4(valid_keys - 1));
    vec4 end_mask = mix(vec4(0), vec4(MINUS_INFINITY), greaterThanEqual(next_keys, ivec4(valid_keys)));
    vec4 weight[TILE_Q];
    [[unroll]] for (int i = 0; i < TILE_Q; ++i) weight[i] = vec4(0);
    ADDRESS_K k0_at = locate_k(column.x, first_k), k1_at = locate_k(column.y, first_k);
    ADDRESS_K k2_at = locate_k(column.z, first_k), k3_at = locate_k(column.w, first_k);
    ADDRESS_Q q_at[TILE_Q];
    [[unroll]] for (int i = 0; i < TILE_Q; ++i) q_at[i] = token[i];
    int d = 0;
#ifdef AHEAD
    for (; d + AHEAD <= depth_slices; d += AHEAD) {
      vec4 k[AHEAD][4], q[AHEAD][TILE_Q];
      [[unroll]] for (int ahead = 0; ahead < AHEAD; ++ahead) {
        k[ahead] = vec4[4](next_k(k0_at, first_k + d + ahead), next_k(k1_at, first_k + d + ahead),
                           next_k(k2_at, first_k + d + ahead), next_k(k3_at, first_k + d + ahead));
        [[unroll]] for (int i = 0; i < TILE_Q; ++i) q[ahead][i] = next_q(q_at[i], first_q + d + ahead);
      }
      [[unroll]] for (int ahead = 0; ahead < AHEAD; ++ahead)
        [[unroll]] for (int i = 0; i < TILE_Q; ++i)
          weight[i] = add_products(weight[i], q[ahead][i], k[ahead][0], k[ahead][1], k[ahead][2], k[ahead][3]);
    }
#endif
    for (; d < depth_slices; ++d) {
      vec4 k0 = next_k(k0_at, first_k + d), k1 = next_k(k1_at, first_k + d);
      vec4 k2 = next_k(k2_at, first_k + d), k3 = next_k(k3_at, first_k + d);
      [[unroll]] for (int i = 0; i < TILE_Q; ++i) {
        vec4 q = next_q(q_at[i], first_q + d);
        weight[i] = add_products(weight[i], q, k0, k1, k2, k3);
      }
    }
#if defined(BYTE_ROWS) && !defined(WITHOUT_SCALES)
    [[unroll]] for (int i = 0; i < TILE_Q; ++i) weight[i] *= scales_of_k(column);
#endif
    float keep[TILE_Q];
    [[unroll]] for (int i = 0; i < TILE_Q; ++i) {
      vec4 score = masked(scale * weight[i], min(first + i, queries - 1), next_keys, mask_base, end_mask);
      float most = max(max(max(score.x, score.y), max(score.z, score.w)), largest[i]);
      weight[i] = exp(score - most);
      keep[i] = exp(largest[i] - most);
      largest[i] = most;
      total[i] = total[i] * keep[i] + dot(weight[i], vec4(1));
    }
#if defined(BYTE_ROWS) && !defined(WITHOUT_SCALES)
    [[unroll]] for (int i = 0; i < TILE_Q; ++i) weight[i] *= scales_of_v(column);
#endif
#ifdef HALF_PRODUCTS
    if (key % RUN_KEYS == 0) [[unroll]] for (int i = 0; i < TILE_Q; ++i) {
      kept[i] = 1.0;
      [[unroll]] for (int s = 0; s < V_SLICES; ++s) run_sum[s][i] = f16vec4(0);
    }
    f16vec4 part[TILE_Q];
    [[unroll]] for (int i = 0; i < TILE_Q; ++i) {
      part[i] = f16vec4(weight[i] / RUN_SCALE);
      kept[i] *= keep[i];
    }
#ifdef KEY_BY_KEY
    [[unroll]] for (int s = 0; s < V_SLICES; ++s)
      [[unroll]] for (int i = 0; i < TILE_Q; ++i) run_sum[s][i] *= float16_t(keep[i]);
    [[dont_unroll]] for (int j = 0; j < 4; ++j) {
      float16_t weight_of_key[TILE_Q];
      [[unroll]] for (int i = 0; i < TILE_Q; ++i) weight_of_key[i] = part[i][j];
      [[unroll]] for (int s = 0; s < V_SLICES; ++s) {
        f16vec4 v = half_v(column[j], first_v + s);
        [[unroll]] for (int i = 0; i < TILE_Q; ++i) run_sum[s][i] += weight_of_key[i] * v;
      }
    }
#else
    [[unroll]] for (int s = 0; s < V_SLICES; ++s) {
      f16vec4 v0 = half_v(column.x, first_v + s), v1 = half_v(column.y, first_v + s);
      f16vec4 v2 = half_v(column.z, first_v + s), v3 = half_v(column.w, first_v + s);
      [[unroll]] for (int i = 0; i < TILE_Q; ++i)
        run_sum[s][i] = run_sum[s][i] * float16_t(keep[i]) + part[i].x * v0 + part[i].y * v1 + part[i].z * v2 + part[i].w * v3;
    }
#endif
    if ((key + 4) % RUN_KEYS == 0 || key + 4 >= end)
      [[unroll]] for (int s = 0; s < V_SLICES; ++s)
        [[unroll]] for (int i = 0; i < TILE_Q; ++i) sum[s][i] = sum[s][i] * kept[i] + RUN_SCALE * vec4(run_sum[s][i]);
#elif defined(KEY_BY_KEY)
    [[unroll]] for (int s = 0; s < V_SLICES; ++s)
      [[unroll]] for (int i = 0; i < TILE_Q; ++i) sum[s][i] *= keep[i];
    [[dont_unroll]] for (int j = 0; j < 4; ++j) {
      ADDRESS_V v_at = locate_v(column[j], first_v);
      float weight_of_key[TILE_Q];
      [[unroll]] for (int i = 0; i < TILE_Q; ++i) weight_of_key[i] = weight[i][j];
      [[unroll]] for (int s = 0; s < V_SLICES; ++s) {
        vec4 v = next_v(v_at, first_v + s);
        [[unroll]] for (int i = 0; i < TILE_Q; ++i) ADD_PRODUCT(sum[s][i], weight_of_key[i], v);
      }
    }
#else
    ADDRESS_V v0_at = locate_v(column.x, first_v), v1_at = locate_v(column.y, first_v);
    ADDRESS_V v2_at = locate_v(column.z, first_v), v3_at = locate_v(column.w, first_v);
    [[unroll]] for (int s = 0; s < V_SLICES; ++s) {
      vec4 v0 = next_v(v0_at, first_v + s), v1 = next_v(v1_at, first_v + s);
      vec4 v2 = next_v(v2_at, first_v + s), v3 = next_v(v3_at, first_v + s);
      [[unroll]] for (int i = 0; i < TILE_Q; ++i)
        sum[s][i] = sum[s][i] * keep[i] + weight[i].x * v0 + weight[i].y * v1 + weight[i].z * v2 + weight[i].w * v3;
    }
#endif
  }

#ifdef SHARE_KEYS
  part_scores[lane] = vec2(largest[0], total[0]);
  barrier();
  float most = LOWEST, whole = 0.0;
  [[unroll]] for (int part = 0; part < SHARE_KEYS; ++part) most = max(most, part_scores[part * TOKENS + of_workgroup].x);
  [[unroll]] for (int part = 0; part < SHARE_KEYS; ++part) {
    vec2 scores = part_scores[part * TOKENS + of_workgroup];
    whole += exp(scores.x - most) * scores.y;
  }
  float kept_of_part = exp(largest[0] - most);
  [[unroll]] for (int s = 0; s < V_SLICES; s += SHARE_KEYS) {
    barrier();  // all have read the previous slices
    [[unroll]] for (int j = 0; j < SHARE_KEYS; ++j)
      if (s + j < V_SLICES) part_sums[j * WORKGROUP_X + lane] = kept_of_part * sum[min(s + j, V_SLICES - 1)][0];
    barrier();
    if (is_stored && s + part_number < V_SLICES) {
      vec4 v = vec4(0);
      [[unroll]] for (int part = 0; part < SHARE_KEYS; ++part)
        v += part_sums[part_number * WORKGROUP_X + part * TOKENS + of_workgroup];
      store_result(image, head, first, s + part_number, weighted_mean(v, whole));
    }
  }
#else
  [[unroll]] for (int i = 0; i < TILE_Q; ++i)
    if (first + i < queries) {
#ifdef SPLIT_KEYS
      int at = (((image * heads + head) * queries + first + i) * key_parts + part_number) * (V_SLICES + 1);
      [[unroll]] for (int s = 0; s < V_SLICES; ++s) store_partial(at + s, sum[s][i]);
      store_partial(at + V_SLICES, vec4(largest[i], total[i], 0, 0));
#else
      [[unroll]] for (int s = 0; s < V_SLICES; ++s) store_result(image, head, first + i, s, weighted_mean(sum[s][i], total[i]));
#endif
    }
#endif
}
