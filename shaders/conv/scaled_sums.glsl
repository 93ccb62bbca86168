// The results of the sums of conv_tile.glsl: scaled() multiplies a sum by the scale of its output channel. It also
// adds the bias, with SUM_SCALE and FIXED_POINT; other sums begin with the bias.
//
// With SUM_SCALE, factors are integers, so that sums are exact, and the bias is not divided by the scale. The
// result is sum * (scale * S) + bias, each operation rounded; the tensor `sum_scale` holds the bits of S. With
// BIAS_IN_STEPS it is (sum + floor(bias / (scale * S))) * (scale * S).
//
// With X_IN_STEPS, x is read as numbers of steps, integers, and bias and scale are in units of the product of
// both steps. With SUMS_IN_STEPS, scaled sums are numbers of the steps to which they are rounded next, by
// with_residual() or activate().
//
// With DOT_PRODUCTS sums are integers, to which the bias is added at the end.
//
// With FIXED_POINT, x and weights are integers. (sum + bias) is multiplied by a fixed-point number and rounded
// as in LiteRT's reference kernels (MultiplyByQuantizedMultiplier() in
// tensorflow/lite/kernels/internal/common.cc), with ROUNDS_ONCE once. The words after the weights are integers:
// four of bias for each output slice, then four of multiplier for each, then four of shift for each.
//
// With X_OF_16_BITS, x has integers of 16 bits times a step, whose inverse is the appended parameter x_steps, and the bias has
// 64 bits: four words of its upper halves follow the shifts.

#ifdef X_OF_16_BITS
WORDS_OF_TEXELS(w)
ivec4 channel_bias[TILE_S], channel_multiplier[TILE_S], channel_shift[TILE_S], channel_bias_high[TILE_S];

// The sum is 256 * high + low.
vec4 scaled(int s, ivec4 high, ivec4 low) {
  ivec4 bias = channel_bias[0], multiplier = channel_multiplier[0], shift = channel_shift[0], bias_high = channel_bias_high[0];
  [[unroll]] for (int t = 1; t < TILE_S; ++t) {
    bias = s == t ? channel_bias[t] : bias;
    multiplier = s == t ? channel_multiplier[t] : multiplier;
    shift = s == t ? channel_shift[t] : shift;
    bias_high = s == t ? channel_bias_high[t] : bias_high;
  }
  return vec4(fixed_product_of_64_bits(high, low, uvec4(bias), bias_high, multiplier, shift));
}
vec4 scaled(int s, ivec4 v) { return scaled(s, ivec4(0), v); }

// Returns sum[s][i], scaled.
vec4 bare_sum_of(int s, int i) {
  ivec4 high = ivec4(0), low = sum[0][i];
  [[unroll]] for (int t = 1; t < TILE_S; ++t) low = s == t ? sum[t][i] : low;
#ifdef INTEGER_SUMS
  [[unroll]] for (int t = 0; t < TILE_S; ++t) high = s == t ? integer_sum[t][i] : high;
#endif
  return scaled(s, high, low);
}
#elif defined(FIXED_POINT)
#define CHANNEL_WORDS 3  // of each output channel
WORDS_OF_TEXELS(w)
ivec4 channel_bias[TILE_S], channel_multiplier[TILE_S], channel_shift[TILE_S];

vec4 scaled(int s, ivec4 v) {
  ivec4 bias = channel_bias[0], multiplier = channel_multiplier[0], shift = channel_shift[0];
  [[unroll]] for (int t = 1; t < TILE_S; ++t) {
    bias = s == t ? channel_bias[t] : bias;
    multiplier = s == t ? channel_multiplier[t] : multiplier;
    shift = s == t ? channel_shift[t] : shift;
  }
#ifdef ROUNDS_ONCE
  return vec4(fixed_product_once(v + bias, multiplier, shift));
#else
  return vec4(fixed_product(v + bias, multiplier, shift));
#endif
}
vec4 scaled(int s, vec4 v) { return scaled(s, ivec4(v)); }
#elif defined(BYTE_WEIGHTS)
#define CHANNEL_WORDS 2
WORDS_OF_TEXELS(w)
#ifndef WEIGHT_BLOCK
vec4 channel_scale[TILE_S];
#endif
#if defined(SUM_SCALE) || defined(DOT_PRODUCTS)
vec4 channel_bias[TILE_S];
#endif
#ifdef SUM_SCALE
LINEAR_IN(sum_scale)
float scale_of_sums() { return intBitsToFloat(load_sum_scale(0)); }
#endif
#ifdef WEIGHT_BLOCK
// Where the words after the weights are: as the parameters of start_with_bias().
int words_row, words_slices, words_width;

vec4 scaled(int s, vec4 v) { return v; }  // the weights were
#else
// The scale and the bias of output slice s, the counter of a loop that is not unrolled.
vec4 scale_of_slice(int s) {
  vec4 scale = channel_scale[0];
  [[unroll]] for (int t = 1; t < TILE_S; ++t) scale = s == t ? channel_scale[t] : scale;
  return scale;
}
#if defined(SUM_SCALE) || defined(DOT_PRODUCTS)
vec4 bias_of_slice(int s) {
  vec4 bias = channel_bias[0];
  [[unroll]] for (int t = 1; t < TILE_S; ++t) bias = s == t ? channel_bias[t] : bias;
  return bias;
}
#endif
#ifdef SUM_SCALE
// Returns v times the scales of output slice s, and its bias with SUM_SCALE.
#ifdef BIAS_IN_STEPS
vec4 scaled(int s, vec4 v) { return scale_of_slice(s) * (v + bias_of_slice(s)); }
// For integer sums: the bias is added before the conversion, which rounds sums of more than 24 bits.
vec4 scaled(int s, ivec4 v) { return scale_of_slice(s) * vec4(v + ivec4(bias_of_slice(s))); }
#else
vec4 scaled(int s, vec4 v) {
  precise vec4 product = scale_of_slice(s) * v, result = product + bias_of_slice(s);
  return result;
}
#ifdef DOT_PRODUCTS
vec4 scaled(int s, ivec4 v) { return scaled(s, vec4(v)); }
#endif
#endif
#elif defined(DOT_PRODUCTS)
vec4 scaled(int s, ivec4 v) { return scale_of_slice(s) * (vec4(v) + bias_of_slice(s)); }
#else
vec4 scaled(int s, vec4 v) { return scale_of_slice(s) * v; }
#endif
#ifdef SUM_SCALE
// Completes the scale of output slice s, and rounds its bias down to steps of it with BIAS_IN_STEPS.
void complete_scale(const int s) {
  channel_scale[s] *= scale_of_sums();
#ifdef BIAS_IN_STEPS
  channel_bias[s] = floor(exact_halves(channel_bias[s], channel_scale[s]));
#endif
}
#endif
#endif
#else
vec4 scaled(int s, vec4 v) { return v; }
#endif
