// Access to linear tensors: the part of tensor.glsl, which includes it, for the layout `linear`.
#include "divide_integers.glsl"

#define LOAD4_FN_(name) CAT(load4_, name)
#define SET_FN_(name) CAT(set_, name)
#define BY_ELEMENT_(kind, name) OF_ELEMENT_(kind, name)(name)

// One element of a type of 32 bits.
#define SCALAR_F32 float
#define SCALAR_I32 int
#define SCALARS_DECL_(name, access) BUFFER_DECL_(name, access, OF_ELEMENT_(SCALAR_, name))

#define IN_LINEAR(name) BY_ELEMENT_(IN_LINEAR_, name)
#define IN_LINEAR_SCALARS_(name)                                                                \
  SCALARS_DECL_(name, readonly)                                                                 \
  OF_ELEMENT_(SCALAR_, name) LOAD_FN_(name)(int i) { return DATA_(name)[i]; }                   \
  OF_ELEMENT_(VALUE_, name) LOAD4_FN_(name)(int i4) {                                           \
    int i = 4 * i4;                                                                             \
    return OF_ELEMENT_(VALUE_, name)(DATA_(name)[i], DATA_(name)[i + 1], DATA_(name)[i + 2], DATA_(name)[i + 3]); \
  }
#define IN_LINEAR_F32(name) IN_LINEAR_SCALARS_(name)
#define IN_LINEAR_I32(name) IN_LINEAR_SCALARS_(name)
#define IN_LINEAR_F16(name)                                                                     \
  BUFFER_DECL_(name, readonly, uint)                                                            \
  float LOAD_FN_(name)(int i) {                                                                 \
    vec2 pair = unpackHalf2x16(DATA_(name)[i >> 1]);                                            \
    return (i & 1) == 0 ? pair.x : pair.y;                                                      \
  }                                                                                             \
  vec4 LOAD4_FN_(name)(int i4) { return unpack_half4(uvec2(DATA_(name)[2 * i4], DATA_(name)[2 * i4 + 1])); }
#define IN_LINEAR_U8(name)                                                                      \
  BUFFER_DECL_(name, readonly, uint)                                                            \
  int LOAD_FN_(name)(int i) { return int(bitfieldExtract(DATA_(name)[i >> 2], 8 * (i & 3), 8)); } \
  ivec4 LOAD4_FN_(name)(int i4) {                                                               \
    uint word = DATA_(name)[i4];                                                                \
    return ivec4((uvec4(word) >> uvec4(0, 8, 16, 24)) & 255u);                                  \
  }
#define IN_LINEAR_Q8(name)                                                                      \
  BUFFER_DECL_(name, readonly, uint)                                                            \
  GRID_DECL_Q8(name)                                                                            \
  float LOAD_FN_(name)(int i) {                                                                 \
    uint byte = bitfieldExtract(DATA_(name)[i >> 2], 8 * (i & 3), 8);                           \
    return (float(byte) - GRID_(name).y) * GRID_(name).x;                                       \
  }                                                                                             \
  vec4 LOAD4_FN_(name)(int i4) { return UNPACKED_(name, DATA_(name)[i4]); }
#define LINEAR_WORDS_IN(name) \
  BUFFER_DECL_(name, readonly, uint) uint CAT(word_, name)(int i) { return DATA_(name)[i]; }
// Sixteen bytes at a time, from a buffer or from its texels.
#define LINEAR_WORDS4_IN(name) BY_STORAGE_(WORDS4_, name)
#define WORDS4_LINEAR(name) \
  BUFFER_DECL_(name, readonly, uvec4) uvec4 CAT(words_, name)(int i4) { return DATA_(name)[i4]; }
// Words of four bytes, from a buffer of I32 or from its texels.
#define BYTES_IN(name) BY_STORAGE_(BYTES_, name)
#define BYTES_LINEAR(name)                                                    \
  BUFFER_DECL_(name, readonly, uint)                                          \
  uint CAT(word_, name)(int i) { return DATA_(name)[i]; }                     \
  uvec4 CAT(bytes_, name)(int i) { return unpack_bytes4(CAT(word_, name)(i)); }
#ifdef SAMPLED_TEXEL_BUFFERS
#define BYTES_TEXELS_(name, i) texelFetch(DATA_(name), i)
#define BYTES_DECL_(name) layout(set = 0, binding = CAT(BINDING_, name)) uniform highp usamplerBuffer DATA_(name);
#define WORDS4_DECL_(name) BYTES_DECL_(name)
#else
#define BYTES_TEXELS_(name, i) imageLoad(DATA_(name), i)
#define BYTES_DECL_(name) \
  layout(set = 0, binding = CAT(BINDING_, name), rgba8ui) uniform readonly highp uimageBuffer DATA_(name);
#define WORDS4_DECL_(name) \
  layout(set = 0, binding = CAT(BINDING_, name), rgba32ui) uniform readonly highp uimageBuffer DATA_(name);
#endif
#define WORDS4_LINEAR_TEXEL(name) \
  WORDS4_DECL_(name) uvec4 CAT(words_, name)(int i4) { return BYTES_TEXELS_(name, i4); }
#define BYTES_LINEAR_TEXEL(name)                                              \
  BYTES_DECL_(name)                                                           \
  uvec4 CAT(bytes_, name)(int i) { return BYTES_TEXELS_(name, i); }           \
  uint CAT(word_, name)(int i) { return pack_bytes4(ivec4(CAT(bytes_, name)(i))); }

// Linear buffers read as texels of four elements.
#define IN_LINEAR_TEXEL(name)                                         \
  TEXEL_BUFFER_DECL_(name)                                            \
  vec4 LOAD4_FN_(name)(int i4) { return BUFFER_TEXEL_(name, i4); }    \
  float LOAD_FN_(name)(int i) {                                       \
    vec4 four = LOAD4_FN_(name)(i >> 2);                              \
    vec2 pair = (i & 2) == 0 ? four.xy : four.zw;                     \
    return (i & 1) == 0 ? pair.x : pair.y;                            \
  }

#define LINEAR_LOAD4_(name) \
  OF_ELEMENT_(VALUE_, name) LOAD4_FN_(name)(int i4) { return UNPACKED_(name, DATA_(name)[i4]); }
#define LINEAR_STORE4_(name) \
  void STORE_FN_(name)(int i4, OF_ELEMENT_(VALUE_, name) v) { DATA_(name)[i4] = PACKED_(name, v); }
#define QUADS_LINEAR(name) QUADS_DECL_(name, readonly) LINEAR_LOAD4_(name)
#define QUADS_LINEAR_TEXEL(name) \
  TEXEL_BUFFER_DECL_(name) vec4 LOAD4_FN_(name)(int i4) { return BUFFER_TEXEL_(name, i4); }
#define OUT_LINEAR(name) QUADS_DECL_(name, writeonly) LINEAR_STORE4_(name)
#define INOUT_LINEAR(name) QUADS_DECL_(name, ) LINEAR_LOAD4_(name) LINEAR_STORE4_(name)
#define SCALARS_LINEAR(name) \
  SCALARS_DECL_(name, writeonly) void SET_FN_(name)(int i, OF_ELEMENT_(SCALAR_, name) v) { DATA_(name)[i] = v; }

#define ATOMIC_LINEAR(name) BUFFER_DECL_(name, , uint) BY_ELEMENT_(ATOMIC_LINEAR_, name)
#define ATOMIC_LINEAR_F32(name)                                              \
  int CAT(word_of_, name)(int i) { return i; }                               \
  float CAT(part_, name)(uint word, int i) { return uintBitsToFloat(word); } \
  uint CAT(with_part_, name)(uint word, int i, float v) { return floatBitsToUint(v); }
#define ATOMIC_LINEAR_I32(name)                                              \
  int CAT(word_of_, name)(int i) { return i; }                               \
  int CAT(part_, name)(uint word, int i) { return int(word); }               \
  uint CAT(with_part_, name)(uint word, int i, int v) { return uint(v); }
#define ATOMIC_LINEAR_F16(name)                                              \
  int CAT(word_of_, name)(int i) { return i >> 1; }                          \
  float CAT(part_, name)(uint word, int i) {                                 \
    vec2 pair = unpackHalf2x16(word);                                        \
    return (i & 1) == 0 ? pair.x : pair.y;                                   \
  }                                                                          \
  uint CAT(with_part_, name)(uint word, int i, float v) {                    \
    uint bits = pack_half2(vec2(v, 0));                                      \
    return (i & 1) == 0 ? (word & 0xffff0000u) | bits : (word & 0xffffu) | (bits << 16); \
  }

// Matrices whose rows are whole texels, in an image: the four elements from 4*i4 on are a texel. The runtime defines
// <name>_row_slices, the texels of a row, and <name>_first_texel, that of the first element (plan/row_texels.hpp).
#define ROW_TEXEL_(name) CAT(name, _row_texel)
#define ROWS_DECL_(name)                                                 \
  ivec2 CAT(name, _rows) = ivec2(CAT(name, _row_slices), CAT(name, _first_texel)); \
  ivec2 ROW_TEXEL_(name)(int i4) { return divide(i4 + CAT(name, _rows).y, CAT(name, _rows).x); }
#define ROWS_LOAD_(name, texel)                                          \
  vec4 LOAD4_FN_(name)(int i4) { return LOADED_TEXEL_(name, texel); }    \
  float LOAD_FN_(name)(int i) {                                          \
    vec4 four = LOAD4_FN_(name)(i >> 2);                                 \
    vec2 pair = (i & 2) == 0 ? four.xy : four.zw;                        \
    return (i & 1) == 0 ? pair.x : pair.y;                               \
  }
#define IN_LINEAR_ROWS_IMAGE2D(name) \
  IMAGE_DECL_(name, readonly, image2D) ROWS_DECL_(name) ROWS_LOAD_(name, imageLoad(DATA_(name), ROW_TEXEL_(name)(i4)))
#define IN_LINEAR_ROWS_IMAGE2D_SAMPLED(name) \
  SAMPLER_DECL_(name, sampler2D) ROWS_DECL_(name) ROWS_LOAD_(name, texelFetch(DATA_(name), ROW_TEXEL_(name)(i4), 0))
#define QUADS_LINEAR_ROWS_IMAGE2D(name) IN_LINEAR_ROWS_IMAGE2D(name)
#define QUADS_LINEAR_ROWS_IMAGE2D_SAMPLED(name) IN_LINEAR_ROWS_IMAGE2D_SAMPLED(name)
#define OUT_LINEAR_ROWS_IMAGE2D(name)                                    \
  IMAGE_DECL_(name, writeonly, image2D) ROWS_DECL_(name)                 \
  void STORE_FN_(name)(int i4, vec4 v) { imageStore(DATA_(name), ROW_TEXEL_(name)(i4), ROUNDED_(name, v)); }
