// Bytes that are multiplied as integers, in words of four, for kernels with the macro DOT_PRODUCTS:
//   DOT_PRODUCTS 1   both factors are signed bytes
//   DOT_PRODUCTS 2   the first is signed bytes, the second unsigned ones
// The first are words of weights. The second are texels of a tensor of Q8: its bytes, or with DOT_PRODUCTS 1 its bytes less 128.
//   WORDS_OF_SLICES(name)             after SLICES_OF_TENSOR: uint fetch_word_<name>(address), the second factor at the address,
//                                     uint fetch_word_or_zero_<name>(address, bool inside), the zero point unless `inside`, and
//                                     int word_zero_<name>(), the zero point of such a byte
//   WORDS_OF_PIXELS(name)             after these, with FOUR_PIXELS: uvec4 fetch_words_<name>(int address), of four texels
//   WORDS_IN_ROWS(name)               after TEXELS_IN: uvec4 load_words_in_row_<name>(int x, int row), the texels x to x + 3 of a
//                                     row; x and the width of rows are multiples of four
#if DOT_PRODUCTS == 1
const uint BYTE_OFFSETS = 0x80808080u;
const int BYTE_OFFSET = 128;
#else
const uint BYTE_OFFSETS = 0u;
const int BYTE_OFFSET = 0;
#endif

#define WORD_OF_TEXEL_(texel) pack_bytes4(ivec4(texel))
#define WORDS_OF_SLICES_(name, type, word)                                                                                 \
  uint CAT(fetch_word_, name)(type address) { return (word) ^ BYTE_OFFSETS; }                                              \
  uint CAT(fetch_word_or_zero_, name)(type address, bool inside) {                                                         \
    uint bytes = word;                                                                                                     \
    return (inside ? bytes : ZERO_QUAD_Q8(name)) ^ BYTE_OFFSETS;                                                           \
  }                                                                                                                        \
  int CAT(word_zero_, name)() { return int(GRID_(name).y) - BYTE_OFFSET; }

#define IMAGE_WORDS_(name, type) WORDS_OF_SLICES_(name, type, WORD_OF_TEXEL_(imageLoad(DATA_(name), address)))
#define SAMPLER_WORDS_(name, type) WORDS_OF_SLICES_(name, type, WORD_OF_TEXEL_(texelFetch(DATA_(name), address, 0)))
#ifdef SAMPLED_TEXEL_BUFFERS
#define TEXEL_WORD_(name, i) WORD_OF_TEXEL_(texelFetch(DATA_(name), i))
#else
#define TEXEL_WORD_(name, i) WORD_OF_TEXEL_(imageLoad(DATA_(name), i))
#endif
#define WORDS_OF_SLICES(name) BY_STORAGE_(SLICE_WORDS_, name)
#define SLICE_WORDS_IMAGE2D(name) IMAGE_WORDS_(name, ivec2)
#define SLICE_WORDS_IMAGE2D_SAMPLED(name) SAMPLER_WORDS_(name, ivec2)
#define SLICE_WORDS_FOLDED_IMAGE2D(name) IMAGE_WORDS_(name, ivec2)
#define SLICE_WORDS_FOLDED_IMAGE2D_SAMPLED(name) SAMPLER_WORDS_(name, ivec2)
#define SLICE_WORDS_IMAGE3D(name) IMAGE_WORDS_(name, ivec3)
#define SLICE_WORDS_IMAGE3D_SAMPLED(name) SAMPLER_WORDS_(name, ivec3)
#define SLICE_WORDS_BUFFER(name) WORDS_OF_SLICES_(name, int, DATA_(name)[address])
#define SLICE_WORDS_ROWS_BUFFER(name) SLICE_WORDS_BUFFER(name)
#define SLICE_WORDS_TEXEL_BUFFER(name) WORDS_OF_SLICES_(name, int, TEXEL_WORD_(name, address))
#define SLICE_WORDS_ROWS_TEXEL_BUFFER(name) SLICE_WORDS_TEXEL_BUFFER(name)
#define SLICE_WORDS_WIDE_TEXEL_BUFFER(name) WORDS_OF_SLICES_(name, int, WIDE_WORD_(name, address))

#define FOUR_WORDS_(word)                                      \
  uvec4 words;                                                 \
  [[unroll]] for (int i = 0; i < 4; ++i) words[i] = word;      \
  return words;
#define WORDS_OF_PIXELS(name) BY_STORAGE_(PIXEL_WORDS_, name)
#define PIXEL_WORDS_WIDE_TEXEL_BUFFER(name) \
  uvec4 CAT(fetch_words_, name)(int address) { return WIDE_WORDS_(name, address >> 2) ^ BYTE_OFFSETS; }
#define PIXEL_WORDS_BUFFER(name) \
  uvec4 CAT(fetch_words_, name)(int address) { FOUR_WORDS_(CAT(fetch_word_, name)(address + i)) }
#define PIXEL_WORDS_TEXEL_BUFFER(name) PIXEL_WORDS_BUFFER(name)

#define WORDS_IN_ROWS(name) BY_STORAGE_(ROW_WORDS_, name)
#define ROW_WORDS_(name, word) uvec4 CAT(load_words_in_row_, name)(int x, int row) { FOUR_WORDS_(word) }
#define ROW_WORDS_IMAGE2D(name) ROW_WORDS_(name, WORD_OF_TEXEL_(imageLoad(DATA_(name), ivec2(x + i, row))))
#define ROW_WORDS_IMAGE2D_SAMPLED(name) ROW_WORDS_(name, WORD_OF_TEXEL_(texelFetch(DATA_(name), ivec2(x + i, row), 0)))
#define ROW_WORDS_BUFFER(name) ROW_WORDS_(name, DATA_(name)[row + x + i])
#define ROW_WORDS_TEXEL_BUFFER(name) ROW_WORDS_(name, TEXEL_WORD_(name, row + x + i))
#define ROW_WORDS_WIDE_TEXEL_BUFFER(name) \
  uvec4 CAT(load_words_in_row_, name)(int x, int row) { return WIDE_WORDS_(name, (row + x) >> 2); }
