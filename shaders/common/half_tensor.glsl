// Access to the texels of tensors as halves: the part of tensor.glsl, which includes it, for kernels that multiply halves.

// With HALF_PRODUCTS, after the declaration of a tensor of halves, these load halves without conversion to fp32:
//   HALVES_OF_TENSOR(name)  f16vec4 load_half_<name>(ivec4 p)
//   HALVES_OF_TEXELS(name)  f16vec4 load_half_<name>(int x, int y, int width), load_half_in_row_<name>(int x, int row)
#ifdef HALF_PRODUCTS
#define HALVES_OF_TENSOR(name) BY_STORAGE_(HALVES_, name)
#define HALVES_OF_TEXELS(name) BY_STORAGE_(HALF_TEXELS_, name)
#define HALF_FN_(name) CAT(load_half_, name)
f16vec4 halves(uvec2 bits) { return f16vec4(unpackFloat2x16(bits.x), unpackFloat2x16(bits.y)); }

#define HALVES_LOADED_(name) f16vec4 HALF_FN_(name)(ivec4 p) { return f16vec4(LOAD_FN_(name)(p)); }
#define HALVES_IMAGE2D(name) HALVES_LOADED_(name)
#define HALVES_IMAGE2D_SAMPLED(name) HALVES_LOADED_(name)
#define HALVES_IMAGE3D(name) HALVES_LOADED_(name)
#define HALVES_IMAGE3D_SAMPLED(name) HALVES_LOADED_(name)
#define HALVES_FOLDED_IMAGE2D(name) HALVES_LOADED_(name)
#define HALVES_FOLDED_IMAGE2D_SAMPLED(name) HALVES_LOADED_(name)
#define HALVES_TEXEL_BUFFER(name) HALVES_LOADED_(name)
#define HALVES_ROWS_TEXEL_BUFFER(name) HALVES_LOADED_(name)
#define HALVES_OF_BUFFER_(name, texel) \
  f16vec4 HALF_FN_(name)(ivec4 p) { return halves(DATA_(name)[texel(p, EXTENT_(name))]); }
#define HALVES_BUFFER(name) HALVES_OF_BUFFER_(name, buffer_texel)
#define HALVES_ROWS_BUFFER(name) HALVES_OF_BUFFER_(name, rows_buffer_texel)

#define HALF_TEXELS_(name, texel)                                               \
  f16vec4 CAT(load_half_in_row_, name)(int x, int row) { return texel; }        \
  f16vec4 HALF_FN_(name)(int x, int y, int width) {                             \
    return CAT(load_half_in_row_, name)(x, CAT(row_of_, name)(y, width));       \
  }
#define HALF_TEXELS_LOADED_(name) HALF_TEXELS_(name, f16vec4(CAT(load_in_row_, name)(x, row)))
#define HALF_TEXELS_IMAGE2D(name) HALF_TEXELS_LOADED_(name)
#define HALF_TEXELS_IMAGE2D_SAMPLED(name) HALF_TEXELS_LOADED_(name)
#define HALF_TEXELS_TEXEL_BUFFER(name) HALF_TEXELS_LOADED_(name)
#define HALF_TEXELS_BUFFER(name) HALF_TEXELS_(name, halves(DATA_(name)[row + x]))
#endif

// After the declaration of a tensor, these load texels as the bits of four halves. Halves in buffers are not converted.
//   HALF_BITS_OF_TENSOR(name)  uvec2 half_bits_<name>(ivec4 p)
//   HALF_BITS_OF_TEXELS(name)  uvec2 half_bits_<name>(int x, int y, int width)
#define HALF_BITS_OF_TENSOR(name) BY_STORAGE_(HALF_BITS_, name)
#define HALF_BITS_OF_TEXELS(name) BY_STORAGE_(HALF_BITS_TEXELS_, name)
#define HALF_BITS_FN_(name) CAT(half_bits_, name)
#define BITS_OF_F32(name, quad) pack_half4(quad)
#define BITS_OF_F16(name, quad) quad
#define BITS_OF_Q8(name, quad) pack_half4(UNPACK_Q8(name, quad))
#define HALF_BITS_LOADED_(name) uvec2 HALF_BITS_FN_(name)(ivec4 p) { return pack_half4(LOAD_FN_(name)(p)); }
#define HALF_BITS_IMAGE2D(name) HALF_BITS_LOADED_(name)
#define HALF_BITS_IMAGE2D_SAMPLED(name) HALF_BITS_LOADED_(name)
#define HALF_BITS_IMAGE3D(name) HALF_BITS_LOADED_(name)
#define HALF_BITS_IMAGE3D_SAMPLED(name) HALF_BITS_LOADED_(name)
#define HALF_BITS_FOLDED_IMAGE2D(name) HALF_BITS_LOADED_(name)
#define HALF_BITS_FOLDED_IMAGE2D_SAMPLED(name) HALF_BITS_LOADED_(name)
#define HALF_BITS_TEXEL_BUFFER(name) HALF_BITS_LOADED_(name)
#define HALF_BITS_ROWS_TEXEL_BUFFER(name) HALF_BITS_LOADED_(name)
#define HALF_BITS_OF_BUFFER_(name, texel) \
  uvec2 HALF_BITS_FN_(name)(ivec4 p) { return OF_ELEMENT_(BITS_OF_, name)(name, DATA_(name)[texel(p, EXTENT_(name))]); }
#define HALF_BITS_BUFFER(name) HALF_BITS_OF_BUFFER_(name, buffer_texel)
#define HALF_BITS_ROWS_BUFFER(name) HALF_BITS_OF_BUFFER_(name, rows_buffer_texel)
#define HALF_BITS_TEXELS_LOADED_(name) \
  uvec2 HALF_BITS_FN_(name)(int x, int y, int width) { return pack_half4(LOAD_FN_(name)(x, y, width)); }
#define HALF_BITS_TEXELS_IMAGE2D(name) HALF_BITS_TEXELS_LOADED_(name)
#define HALF_BITS_TEXELS_IMAGE2D_SAMPLED(name) HALF_BITS_TEXELS_LOADED_(name)
#define HALF_BITS_TEXELS_TEXEL_BUFFER(name) HALF_BITS_TEXELS_LOADED_(name)
#define HALF_BITS_TEXELS_BUFFER(name) \
  uvec2 HALF_BITS_FN_(name)(int x, int y, int width) { return OF_ELEMENT_(BITS_OF_, name)(name, DATA_(name)[y * width + x]); }
