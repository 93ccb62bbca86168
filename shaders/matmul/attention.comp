// Computes softmax(scale * Q K^T + mask) V without the scores in memory. The softmax is computed online, over the keys in
// turn, and the sums so far are rescaled whenever a larger score occurs (Milakov and Gimelshein, Online normalizer
// calculation for softmax, 2018, algorithm 3; Dao et al., FlashAttention, 2022, section 3.1).
//
// An invocation computes TILE_Q tokens of one head, of V_SLICES slices of four channels each (the last one has
// LAST_CHANNELS), and reads four keys at a time. Q, K and V are rows of one grid of texels (attention_pack.comp), or with
// MATRICES columns of matrices in channels4, of one tensor or with SEPARATE of three.
//
// With HALF_PRODUCTS the products with values are accumulated in fp16 over HALF_PRODUCTS times four keys, and each partial
// sum is added to an fp32 accumulator. No partial sum of finite halves overflows: weights are at most 1, and are divided by
// the number of terms, and again by two for rounding. Scores remain fp32, because Q and K are unbounded.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef HALF_PRODUCTS
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif

layout(push_constant) uniform Params {
  ivec4 size;          // queries, heads, keys, images
  ivec4 mask_strides;  // along images, heads, queries, keys; 0 where the mask is repeated
  ivec4 y_strides;     // along images, heads, queries
  ivec4 rows;          // first row of K, first row of V, width of the grid, heads of Q to one of K and V
#ifdef MATRICES
  // Rows are slices of channels and columns are tokens then, and instead of the width comes the first row of Q.
  ivec4 head_rows;     // from one head to the next: of Q, K, V
  ivec4 columns;       // from one image to the next and one token to the next, of Q, then of K and V
  ivec4 widths;        // slices of the tensors Q, K, V and Y
#endif
  float scale;
  int depth_slices;    // of Q and K
};

#include "tensor.glsl"
#include "divide.glsl"

#ifdef MATRICES
#define q_shape ivec4(1, 1, 4 * widths.x, 1)
#define k_shape ivec4(1, 1, 4 * widths.y, 1)
#define v_shape ivec4(1, 1, 4 * widths.z, 1)
#define y_shape ivec4(1, 1, 4 * widths.w, 1)
TENSOR_IN(0, q)
#ifdef SEPARATE
TENSOR_IN(1, k)
TENSOR_IN(2, v)
#else
#define load_k load_q
#define load_v load_q
#endif
vec4 texel_q(int column, int row) { return load_q(ivec4(0, 0, row, column)); }
vec4 texel_k(int column, int row) { return load_k(ivec4(0, 0, row, column)); }
vec4 texel_v(int column, int row) { return load_v(ivec4(0, 0, row, column)); }
#else
TEXELS_IN(0, grid)
vec4 texel_q(int column, int row) { return load_grid(column, row, rows.z); }
vec4 texel_k(int column, int row) { return texel_q(column, row); }
vec4 texel_v(int column, int row) { return texel_q(column, row); }
#endif
#if defined(MASK)
LINEAR_IN(MASK, mask)
#endif
#if defined(Y_MATRIX)
TENSOR_OUT(Y_SLOT, y)
#elif defined(Y_SCALARS)
SCALARS_OUT(Y_SLOT, y)
#else
LINEAR_OUT(Y_SLOT, y)
#endif

#ifdef HALF_PRODUCTS
#ifdef MATRICES
#ifdef SEPARATE
HALVES_OF_TENSOR(2, v)
#else
HALVES_OF_TENSOR(0, q)
#define load_half_v load_half_q
#endif
f16vec4 half_v(int column, int row) { return load_half_v(ivec4(0, 0, row, column)); }
#else
HALVES_OF_TEXELS(0, grid)
f16vec4 half_v(int column, int row) { return load_half_grid(column, row, rows.z); }
#endif
const float RUN_SCALE = 8.0 * HALF_PRODUCTS;
const int RUN_KEYS = 4 * HALF_PRODUCTS;
#endif

#define LOWEST -3.402823466e38  // what the largest score starts from: unlike infinity it leaves differences defined
#define MINUS_INFINITY uintBitsToFloat(0xff800000u)

// Returns the scores of a token of Q and four keys with the mask added; minus infinity excludes a key, and `behind`
// excludes keys after the last one. Uses selects instead of branches, of which unrolling would make dozens.
vec4 masked(vec4 scores, int query, ivec4 key, int mask_base, vec4 behind) {
#if defined(MASK)
  ivec4 at = mask_base + query * mask_strides.z + min(key, ivec4(size.z - 1)) * mask_strides.w;
#if defined(MASK_BOOLEAN)
  ivec4 sees = ivec4(load_mask(at.x), load_mask(at.y), load_mask(at.z), load_mask(at.w));
  scores = mix(scores, vec4(MINUS_INFINITY), equal(sees, ivec4(0)));
#else
  scores += vec4(load_mask(at.x), load_mask(at.y), load_mask(at.z), load_mask(at.w));
#endif
#endif
#ifdef CAUSAL
  scores = mix(scores, vec4(MINUS_INFINITY), greaterThan(key, ivec4(query)));
#endif
  return scores + behind;
}

void main() {
  ivec2 by_query = divide(flat_index(), (size.x + TILE_Q - 1) / TILE_Q);
  ivec2 by_head = divide(by_query.x, size.y);
  int first = TILE_Q * by_query.y, head = by_head.y, image = by_head.x;
  if (image >= size.w) return;
  int kv_head = divide(head, rows.w).x;
#ifdef MATRICES
  int q_row = rows.z + head * head_rows.x, k_row = rows.x + kv_head * head_rows.y, v_row = rows.y + kv_head * head_rows.z;
  int q_column = image * columns.x, q_step = columns.y, k_column = image * columns.z, k_step = columns.w;
#else
  int q_row = head * depth_slices, k_row = rows.x + kv_head * depth_slices, v_row = rows.y + kv_head * V_SLICES;
  int q_column = image * size.x, k_column = image * size.z;
  const int q_step = 1, k_step = 1;
#endif
  int mask_base = image * mask_strides.x + head * mask_strides.y;

  vec4 sum[V_SLICES][TILE_Q];
  float largest[TILE_Q], total[TILE_Q];
  [[unroll]] for (int i = 0; i < TILE_Q; ++i) {
    largest[i] = LOWEST;
    total[i] = 0.0;
    [[unroll]] for (int s = 0; s < V_SLICES; ++s) sum[s][i] = vec4(0);
  }
#ifdef HALF_PRODUCTS
  f16vec4 run_sum[V_SLICES][TILE_Q];
  float kept[TILE_Q];  // of the sum, since the run began
#endif
  for (int key = 0; key < size.z; key += 4) {
    // Keys after the last one repeat it with weight 0; tokens after the last one repeat it and are not stored.
    ivec4 keys = key + ivec4(0, 1, 2, 3);
    ivec4 column = k_column + k_step * min(keys, ivec4(size.z - 1));
    vec4 behind = mix(vec4(0), vec4(MINUS_INFINITY), greaterThanEqual(keys, ivec4(size.z)));
    vec4 weight[TILE_Q];
    [[unroll]] for (int i = 0; i < TILE_Q; ++i) weight[i] = vec4(0);
    for (int d = 0; d < depth_slices; ++d) {
      vec4 k0 = texel_k(column.x, k_row + d), k1 = texel_k(column.y, k_row + d);
      vec4 k2 = texel_k(column.z, k_row + d), k3 = texel_k(column.w, k_row + d);
      [[unroll]] for (int i = 0; i < TILE_Q; ++i) {
        vec4 q = texel_q(q_column + q_step * min(first + i, size.x - 1), q_row + d);
        weight[i] += vec4(dot(q, k0), dot(q, k1), dot(q, k2), dot(q, k3));
      }
    }
    float keep[TILE_Q];
    [[unroll]] for (int i = 0; i < TILE_Q; ++i) {
      vec4 score = masked(scale * weight[i], min(first + i, size.x - 1), keys, mask_base, behind);
      float most = max(max(max(score.x, score.y), max(score.z, score.w)), largest[i]);
      weight[i] = exp(score - most);
      keep[i] = exp(largest[i] - most);
      largest[i] = most;
      total[i] = total[i] * keep[i] + dot(weight[i], vec4(1));
    }
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
    [[unroll]] for (int s = 0; s < V_SLICES; ++s) {
      f16vec4 v0 = half_v(column.x, v_row + s), v1 = half_v(column.y, v_row + s);
      f16vec4 v2 = half_v(column.z, v_row + s), v3 = half_v(column.w, v_row + s);
      [[unroll]] for (int i = 0; i < TILE_Q; ++i)
        run_sum[s][i] = run_sum[s][i] * float16_t(keep[i]) + part[i].x * v0 + part[i].y * v1 + part[i].z * v2 + part[i].w * v3;
    }
    if ((key + 4) % RUN_KEYS == 0 || key + 4 >= size.z)
      [[unroll]] for (int s = 0; s < V_SLICES; ++s)
        [[unroll]] for (int i = 0; i < TILE_Q; ++i) sum[s][i] = sum[s][i] * kept[i] + RUN_SCALE * vec4(run_sum[s][i]);
#else
    [[unroll]] for (int s = 0; s < V_SLICES; ++s) {
      vec4 v0 = texel_v(column.x, v_row + s), v1 = texel_v(column.y, v_row + s);
      vec4 v2 = texel_v(column.z, v_row + s), v3 = texel_v(column.w, v_row + s);
      [[unroll]] for (int i = 0; i < TILE_Q; ++i)
        sum[s][i] = sum[s][i] * keep[i] + weight[i].x * v0 + weight[i].y * v1 + weight[i].z * v2 + weight[i].w * v3;
    }
#endif
  }

  [[unroll]] for (int i = 0; i < TILE_Q; ++i)
    if (first + i < size.x) {
      int at = image * y_strides.x + head * y_strides.y + (first + i) * y_strides.z;
      [[unroll]] for (int s = 0; s < V_SLICES; ++s) {
        vec4 v = sum[s][i] / total[i];
#if defined(Y_MATRIX)
        store_y(ivec4(0, 0, head * V_SLICES + s, image * size.x + first + i), v);
#elif defined(Y_SCALARS)
        [[unroll]] for (int j = 0; j < 4; ++j)
          if (4 * s + j < 4 * V_SLICES - 4 + LAST_CHANNELS) set_y(at + 4 * s + j, v[j]);
#else
        store_y((at >> 2) + s, v);
#endif
      }
    }
}
