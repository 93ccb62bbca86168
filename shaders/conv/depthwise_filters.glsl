// The filters of a depthwise convolution of TAPS taps: a grid of texels, row = slice, column = tap. The bias
// follows the taps. 8-bit weights are followed by four words of bias, divided by the scale, and four words of scale.
//
// After TEXELS_IN(name), FILTERS_OF(name) or BYTE_FILTERS_OF(name) defines
//   vec4 tap_of_<name>(int tap, int slice)       a tap of the four channels
//   vec4 bias_of_<name>(int slice)               the initial value of the sums
//   vec4 finished_<name>(vec4 sum, int slice)    the sum of bias and products, scaled
#define FILTERS_OF(name)                                                                                                 \
  vec4 CAT(tap_of_, name)(int tap, int slice) { return CAT(load_, name)(tap, slice, TAPS + 1); }                         \
  vec4 CAT(bias_of_, name)(int slice) { return CAT(load_, name)(TAPS, slice, TAPS + 1); }                                \
  vec4 CAT(finished_, name)(vec4 sum, int slice) { return sum; }

#define BYTE_FILTERS_OF(name)                                                                                            \
  WORDS_OF_TEXELS(name)                                                                                                  \
  vec4 CAT(words_of_, name)(int column, int slice) {                                                                     \
    uvec4 words;                                                                                                         \
    [[unroll]] for (int c = 0; c < 4; ++c) words[c] = CAT(load_word_, name)(column + c, slice, TAPS + 8);                \
    return uintBitsToFloat(words);                                                                                       \
  }                                                                                                                      \
  vec4 CAT(tap_of_, name)(int tap, int slice) { return CAT(load_, name)(tap, slice, TAPS + 8); }                         \
  vec4 CAT(bias_of_, name)(int slice) { return CAT(words_of_, name)(TAPS, slice); }                                      \
  vec4 CAT(finished_, name)(vec4 sum, int slice) { return sum * CAT(words_of_, name)(TAPS + 4, slice); }
