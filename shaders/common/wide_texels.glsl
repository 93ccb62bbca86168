// Buffers of Q8 of which a load reads four texels, sixteen bytes: the storage WIDE_TEXEL_BUFFER (Binding::of_words4). A part of
// tensor.glsl, which includes it.
//   FOURS_OF_TEXELS(name)   after TEXELS_IN: vec4[4] load_four_in_row_<name>(int x, int row), the texels x to x + 3 of a row; x
//                           and the width of rows are multiples of four
//   FOURS_OF_PIXELS(name)   after SLICES_OF_TENSOR of a buffer: vec4[4] fetch_four_<name>(int address), the texels from a
//                           multiple of four on
// These are one load where the storage is WIDE_TEXEL_BUFFER. A load of one texel then selects it from four.
#define WIDE_DECL_(name)                                                                                    \
  layout(set = 0, binding = CAT(BINDING_, name), rgba32ui) uniform readonly highp uimageBuffer DATA_(name); \
  GRID_DECL_Q8(name)
#define WIDE_WORDS_(name, i4) imageLoad(DATA_(name), i4)
#define WIDE_WORD_(name, i) word_of_four(WIDE_WORDS_(name, (i) >> 2), i)
#define WIDE_TEXEL_(name, i) UNPACKED_(name, WIDE_WORD_(name, i))

// Returns word i & 3.
uint word_of_four(uvec4 words, int i) {
  uvec2 pair = (i & 2) == 0 ? words.xy : words.zw;
  return (i & 1) == 0 ? pair.x : pair.y;
}

#define IN_WIDE_TEXEL_BUFFER(name) \
  WIDE_DECL_(name) vec4 LOAD_FN_(name)(ivec4 p) { return WIDE_TEXEL_(name, buffer_texel(p, EXTENT_(name))); }
#define SLICES_WIDE_TEXEL_BUFFER(name)                                      \
  ADDRESSES_BUFFER_(name)                                                   \
  vec4 FETCH_FN_(name)(int address) { return WIDE_TEXEL_(name, address); } \
  FETCH_OR_ZERO_(name, int)
#define ADDRESS_WIDE_TEXEL_BUFFER int
#define COLUMNS_OF_WIDE_TEXEL_BUFFER ONE_COLUMN

#define TEXELS_WIDE_TEXEL_BUFFER(name) WIDE_DECL_(name) TEXELS_(name, y * width, WIDE_TEXEL_(name, row + x))
#define WORDS_WIDE_TEXEL_BUFFER(name) WORDS_(name, WIDE_WORD_(name, row + x))

#define WIDE_FOUR_(name, first)                                                 \
  uvec4 words = WIDE_WORDS_(name, (first) >> 2);                                \
  vec4 four[4];                                                                 \
  [[unroll]] for (int i = 0; i < 4; ++i) four[i] = UNPACKED_(name, words[i]);   \
  return four;
#define SINGLE_FOUR_(load)                                                      \
  vec4 four[4];                                                                 \
  [[unroll]] for (int i = 0; i < 4; ++i) four[i] = load;                        \
  return four;

#define FOURS_OF_TEXELS(name) BY_STORAGE_(FOURS_, name)
#define FOURS_WIDE_TEXEL_BUFFER(name) \
  vec4[4] CAT(load_four_in_row_, name)(int x, int row) { WIDE_FOUR_(name, row + x) }
#define FOURS_LOADED_(name) \
  vec4[4] CAT(load_four_in_row_, name)(int x, int row) { SINGLE_FOUR_(CAT(load_in_row_, name)(x + i, row)) }
#define FOURS_IMAGE2D(name) FOURS_LOADED_(name)
#define FOURS_IMAGE2D_SAMPLED(name) FOURS_LOADED_(name)
#define FOURS_BUFFER(name) FOURS_LOADED_(name)
#define FOURS_TEXEL_BUFFER(name) FOURS_LOADED_(name)

#define FOURS_OF_PIXELS(name) BY_STORAGE_(FOUR_PIXELS_, name)
#define FOUR_PIXELS_WIDE_TEXEL_BUFFER(name) vec4[4] CAT(fetch_four_, name)(int address) { WIDE_FOUR_(name, address) }
#define FOUR_PIXELS_LOADED_(name) vec4[4] CAT(fetch_four_, name)(int address) { SINGLE_FOUR_(FETCH_FN_(name)(address + i)) }
#define FOUR_PIXELS_BUFFER(name) FOUR_PIXELS_LOADED_(name)
#define FOUR_PIXELS_TEXEL_BUFFER(name) FOUR_PIXELS_LOADED_(name)
