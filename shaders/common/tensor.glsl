// Access to tensors of every storage, layout and precision.
//
// For each tensor that a dispatch binds under a name, the runtime defines BINDING_<name> as its binding number,
// ELEMENT_<name> as F32, F16, I32, U8 or Q8, and STORAGE_<name> as one of
//   IMAGE2D  IMAGE3D  BUFFER                                              (channels4)
//   IMAGE2D_SAMPLED  IMAGE3D_SAMPLED  TEXEL_BUFFER    of a tensor that is only read
//   FOLDED_IMAGE2D  FOLDED_IMAGE2D_SAMPLED            slices in several columns
//   ROWS_BUFFER  ROWS_TEXEL_BUFFER                    buffers in the order N, H, slice, W instead of N, slice, H, W
//   LINEAR  LINEAR_TEXEL                              (linear) LINEAR_TEXEL: of a tensor that is only read
//   LINEAR_ROWS_IMAGE2D  LINEAR_ROWS_IMAGE2D_SAMPLED  (linear) matrices of whole texels in an image
// It also defines the size of the workgroup as WORKGROUP_X, WORKGROUP_Y, WORKGROUP_Z.
//
// A kernel includes its parameters first (parameters.h), with a field `ivec4 <name>_shape` = (W, H, C, N) for each
// channels4 tensor that it accesses by position, and then declares its tensors:
//   TENSOR_IN(name)        vec4 load_<name>(ivec4 p)           texel at p = (w, h, slice, n); the caller checks bounds
//   TENSOR_OUT(name)       void store_<name>(ivec4 p, vec4 v)  zeroes the unused channels of the last slice
//   TENSOR_INOUT(name)     both
//   TEXELS_IN(name)        vec4 load_<name>(int x, int y, int width)   a grid of prepacked weights, `width` texels wide;
//                          in a loop: int row = row_of_<name>(y, width) before it, vec4 load_in_row_<name>(x, row) inside
//   WORDS_OF_TEXELS(name)  after TEXELS_IN of Q8: uint load_word_<name>(int x, int y, int width), the four bytes of a texel
//   BYTES_OF_TEXELS(name)  after TEXELS_IN of Q8: uvec4 load_bytes_in_row_<name>(int x, int row), the same of a row_of_<name>()
//   LINEAR_IN(name)        float load_<name>(int i)  and  vec4 load4_<name>(int i4): elements 4*i4 ... 4*i4+3
//   LINEAR_WORDS_IN(name)  uint word_<name>(int i): four bytes of a linear tensor of U8, from byte 4*i on
//   LINEAR_WORDS4_IN(name) uvec4 words_<name>(int i4): sixteen bytes of such a tensor, from byte 16*i4 on (Binding::of_words4)
//   BYTES_IN(name)         of a linear tensor of I32 whose words are four bytes (Binding::of_bytes): uvec4 bytes_<name>(int i)
//                          and uint word_<name>(int i), those of word i
//   QUADS_IN(name)         only load4_<name>, of floats: one load where LINEAR_IN may need four
//   LINEAR_OUT(name)       void store_<name>(int i4, vec4 v)   elements 4*i4 ... 4*i4+3
//   LINEAR_INOUT(name)     load4_<name> and store_<name>
//   SCALARS_OUT(name)      void set_<name>(int i, float v): one element; not for halves
//   LINEAR_ATOMIC(name)    the 32-bit words of a tensor, for atomic functions on <name>_data: element i is part of word
//                          word_of_<name>(i); float part_<name>(uint word, int i); uint with_part_<name>(word, i, v)
// For linear tensors of I32 these functions have int and ivec4 in place of float and vec4, and so do LINEAR_IN and LINEAR_OUT
// for U8 (bytes). A name that the dispatch does not bind is a compile error.
// A tensor of Q8 stores real numbers as bytes, (byte - zero) * step: loads return the numbers, stores round to the nearest
// byte. The runtime defines <name>_grid_step and <name>_grid_zero, as fields of the parameters or as macros.
// SCALARS_OUT, LINEAR_ATOMIC and the halves of HALF_PRODUCTS do not support Q8.
// Coordinates and indices follow TensorDesc in runtime/program/program.hpp.

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)

// BY_STORAGE_ selects the macro of a kind for a tensor's storage: TENSOR_IN(x) is IN_IMAGE2D(x) if STORAGE_x is IMAGE2D.
// OF_ELEMENT_ selects a macro for its element type: OF_ELEMENT_(PACK_, x) is PACK_F16 if ELEMENT_x is F16.
#define BY_STORAGE_(kind, name) CAT(kind, CAT(STORAGE_, name))(name)
#define OF_ELEMENT_(what, name) CAT(what, CAT(ELEMENT_, name))

#define TENSOR_IN(name) EXTENT_DECL_(name) BY_STORAGE_(IN_, name)
#define TENSOR_OUT(name) EXTENT_DECL_(name) BY_STORAGE_(OUT_, name)
#define TENSOR_INOUT(name) EXTENT_DECL_(name) BY_STORAGE_(INOUT_, name)
#define TEXELS_IN(name) BY_STORAGE_(TEXELS_, name)
#define LINEAR_IN(name) BY_STORAGE_(IN_, name)
#define QUADS_IN(name) BY_STORAGE_(QUADS_, name)
#define LINEAR_OUT(name) BY_STORAGE_(OUT_, name)
#define LINEAR_INOUT(name) BY_STORAGE_(INOUT_, name)
#define SCALARS_OUT(name) BY_STORAGE_(SCALARS_, name)
#define LINEAR_ATOMIC(name) BY_STORAGE_(ATOMIC_, name)

layout(local_size_x = WORKGROUP_X, local_size_y = WORKGROUP_Y, local_size_z = WORKGROUP_Z) in;

// Index of this invocation in a grid made by grid_1d() (runtime/kernels/framework/grid.hpp).
int flat_index() { return int(gl_GlobalInvocationID.y * (gl_NumWorkGroups.x * WORKGROUP_X) + gl_GlobalInvocationID.x); }

// Index of this workgroup in a grid made by workgroups_in_a_row().
int workgroup_index() { return int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x); }

int slices(int channels) { return (channels + 3) >> 2; }

// Keeps the first `channels` components; selects, so that NaN in an unused channel does not survive.
vec4 keep_channels(vec4 v, int channels) {
  return channels >= 4 ? v : mix(vec4(0), v, lessThan(ivec4(0, 1, 2, 3), ivec4(channels)));
}

#include "halves.glsl"
vec4 unpack_half4(uvec2 bits) { return vec4(unpackHalf2x16(bits.x), unpackHalf2x16(bits.y)); }
// Attention masks represent minus infinity by the lowest float or by -1e9. As halves these would become infinite, and the
// softmax of a row of infinities is NaN. FINITE_HALVES, which elementwise kernels, kernels that move elements and kernels
// with an EPILOGUE define, clamps numbers below -1e8 to the lowest finite half; a result with an operand of that value is
// clamped, too. Other numbers beyond the range of halves become infinite, so that the overflow is seen. FINITE_HALVES 2
// (where.comp, pad_linear.comp) also clamps numbers above 1e8 to the largest finite half.
#if defined(EPILOGUE) && !defined(FINITE_HALVES)
#define FINITE_HALVES 1
#endif
#ifdef FINITE_HALVES
#define LOWEST_HALF -65504.0
bvec4 has_lowest_operand = bvec4(false);
vec4 within_halves(vec4 v) {
  bvec4 is_finite = lessThan(floatBitsToUint(v) & 0x7fffffffu, uvec4(0x7f800000u));
#if FINITE_HALVES == 2
  bvec4 stands_for_infinity = greaterThan(abs(v), vec4(1e8));
#else
  bvec4 stands_for_infinity = lessThan(v, vec4(-1e8));
#endif
  vec4 within = mix(v, clamp(v, vec4(LOWEST_HALF), vec4(-LOWEST_HALF)), stands_for_infinity);
  within = mix(within, max(within, vec4(LOWEST_HALF)), has_lowest_operand);
  return mix(v, within, is_finite);
}
#else
vec4 within_halves(vec4 v) { return v; }
#endif
uvec2 pack_half4(vec4 v) {
  v = within_halves(v);
  return uvec2(pack_half2(v.xy), pack_half2(v.zw));
}

uint pack_bytes4(ivec4 v) { return uint(v.x | v.y << 8 | v.z << 16 | v.w << 24); }

// A store to an image of halves may round toward zero (on lavapipe it does), which biases every layer. Packing rounds to
// nearest, so that the store does not round.
vec4 nearest_half4(vec4 v) { return unpack_half4(pack_half4(v)); }

// Returns a / b for 0 <= a < 2^20; reciprocal = 1.0 / b. (a + 0.5) / b is at least 0.5 / b away from every integer, which is
// more than all rounding errors.
int quotient(int a, float reciprocal) { return int((float(a) + 0.5) * reciprocal); }

// Texel coordinates of p = (w, h, slice, n) in a tensor of shape s = (W, H, C, N).
ivec2 image2d_texel(ivec4 p, ivec4 s) { return ivec2(p.w * s.x + p.x, p.z * s.y + p.y); }
ivec3 image3d_texel(ivec4 p, ivec4 s) { return ivec3(p.w * s.x + p.x, p.y, p.z); }
// The texel in a folded image, which holds `rows` slices in a column; reciprocal = 1.0 / rows.
ivec2 folded_texel(ivec4 p, ivec4 s, int rows, float reciprocal) {
  int column = quotient(p.z, reciprocal);
  return ivec2((column * s.w + p.w) * s.x + p.x, (p.z - column * rows) * s.y + p.y);
}
int buffer_texel(ivec4 p, ivec4 s) { return ((p.w * slices(s.z) + p.z) * s.y + p.y) * s.x + p.x; }
int rows_buffer_texel(ivec4 p, ivec4 s) { return ((p.w * s.y + p.y) * slices(s.z) + p.z) * s.x + p.x; }

#define LOAD_FN_(name) CAT(load_, name)
#define STORE_FN_(name) CAT(store_, name)
#define EXTENT_(name) CAT(name, _extent)
// Reads the push constant once, before main(). A push constant that is first read after a branch is read again after each
// branch, and on lavapipe each read is a load for each lane.
#define EXTENT_DECL_(name) ivec4 EXTENT_(name) = CAT(name, _shape);
#define DATA_(name) CAT(name, _data)
#define KEEP_(name, p, v) keep_channels(v, EXTENT_(name).z - 4 * p.z)

// Conversions of Q8; grid = (step, zero). They go by signed integers: AVX2, which lavapipe and SwiftShader use, has no
// conversions of unsigned ones.
vec4 from_bytes(uvec4 bytes, vec2 grid) { return (vec4(ivec4(bytes)) - grid.y) * grid.x; }
// Numbers are whole steps, which any quotient tells apart. With STORE_ROUNDS they are not, and this rounds as QuantizeLinear
// does; with STORE_ROUNDS_AWAY as TFLite's QUANTIZE does, ties away from zero.
#if defined(STORE_ROUNDS) || defined(STORE_ROUNDS_AWAY)
#include "divide.glsl"
vec4 steps_of_grid(vec4 v, float step) {
  vec4 quotient = without_nan(exact_halves(v, vec4(step)));
#ifdef STORE_ROUNDS
  return roundEven(quotient);
#else
  return round_away(quotient);
#endif
}
#else
vec4 steps_of_grid(vec4 v, float step) { return roundEven(v / step); }
#endif
// With RESULTS_IN_STEPS v is a number of steps that a byte holds.
uvec4 to_bytes(vec4 v, vec2 grid) {
#ifdef RESULTS_IN_STEPS
  return uvec4(ivec4(v + grid.y));
#else
  return uvec4(ivec4(clamp(steps_of_grid(v, grid.x) + grid.y, vec4(0), vec4(255))));
#endif
}
// Returns the bytes of the first `channels` components, and the byte `zero` for the others. On lavapipe a store is a loop over
// lanes. A selection is the last operation on the word, because LLVM would move conversions and shifts of vectors into that loop.
uint keep_bytes(uint bytes, int channels, float zero) {
  uint kept = (1u << (8 * clamp(channels, 0, 3))) - 1u, zeros = uint(zero) * 0x01010101u;
  return channels >= 4 ? bytes : (bytes & kept) | (zeros & ~kept);
}
uvec4 unpack_bytes4(uint bytes) { return (uvec4(bytes) >> uvec4(0, 8, 16, 24)) & 255u; }
#define GRID_(name) CAT(name, _grid)

// Types of four elements: FORMAT_ and IMAGE_TYPE_ in an image, QUAD_ in a buffer, VALUE_ in a kernel. Halves in buffers are
// accessed as uvec2, so that no 16-bit storage feature is needed.
#define FORMAT_F32 rgba32f
#define FORMAT_F16 rgba16f
#define FORMAT_Q8 rgba8ui
#define IMAGE_TYPE_F32(type) type
#define IMAGE_TYPE_F16(type) type
#define IMAGE_TYPE_Q8(type) u##type
#define QUAD_F32 vec4
#define QUAD_F16 uvec2
#define QUAD_I32 ivec4
#define QUAD_U8 uint
#define QUAD_Q8 uint
#define VALUE_F32 vec4
#define VALUE_F16 vec4
#define VALUE_I32 ivec4
#define VALUE_U8 ivec4
#define VALUE_Q8 vec4
// Conversions between these: UNPACK_ from a buffer, PACK_ to a buffer, TEXEL_ from an image, ROUND_ to an image.
#define UNPACK_F32(name, quad) quad
#define UNPACK_F16(name, quad) unpack_half4(quad)
#define UNPACK_I32(name, quad) quad
#define UNPACK_Q8(name, quad) from_bytes(unpack_bytes4(quad), GRID_(name))
#define PACK_F32(name, v) v
#define PACK_F16(name, v) pack_half4(v)
#define PACK_I32(name, v) v
#define PACK_U8(name, v) pack_bytes4(v)
#define PACK_Q8(name, v) pack_bytes4(ivec4(to_bytes(v, GRID_(name))))
#define TEXEL_F32(name, texel) texel
#define TEXEL_F16(name, texel) texel
#define TEXEL_Q8(name, texel) from_bytes(texel, GRID_(name))
#define ROUND_F32(name, v) v
#define ROUND_F16(name, v) nearest_half4(v)
#define ROUND_Q8(name, v) to_bytes(v, GRID_(name))
// KEPT_: PACK_ with zeros in the unused channels of a texel.
#define KEPT_F32(name, p, v) PACK_F32(name, KEEP_(name, p, v))
#define KEPT_F16(name, p, v) PACK_F16(name, KEEP_(name, p, v))
#define KEPT_Q8(name, p, v) keep_bytes(PACK_Q8(name, v), EXTENT_(name).z - 4 * p.z, GRID_(name).y)
// Push constants are read before main(), as in EXTENT_DECL_.
#define GRID_DECL_F32(name)
#define GRID_DECL_F16(name)
#define GRID_DECL_I32(name)
#define GRID_DECL_U8(name)
#define GRID_DECL_Q8(name) vec2 GRID_(name) = vec2(CAT(name, _grid_step), CAT(name, _grid_zero));
#define UNPACKED_(name, quad) OF_ELEMENT_(UNPACK_, name)(name, quad)
#define PACKED_(name, v) OF_ELEMENT_(PACK_, name)(name, v)
#define LOADED_TEXEL_(name, texel) OF_ELEMENT_(TEXEL_, name)(name, texel)
#define ROUNDED_(name, v) OF_ELEMENT_(ROUND_, name)(name, v)

// Images.
#define IMAGE_DECL_(name, access, type) \
  layout(set = 0, binding = CAT(BINDING_, name), OF_ELEMENT_(FORMAT_, name)) uniform access highp               \
      OF_ELEMENT_(IMAGE_TYPE_, name)(type) DATA_(name);                                                         \
  OF_ELEMENT_(GRID_DECL_, name)(name)
#define SAMPLER_DECL_(name, type)                                                                               \
  layout(set = 0, binding = CAT(BINDING_, name)) uniform highp OF_ELEMENT_(IMAGE_TYPE_, name)(type) DATA_(name); \
  OF_ELEMENT_(GRID_DECL_, name)(name)
#define IMAGE_LOAD_(name, texel) \
  vec4 LOAD_FN_(name)(ivec4 p) { return LOADED_TEXEL_(name, imageLoad(DATA_(name), texel(p, EXTENT_(name)))); }
#define SAMPLER_LOAD_(name, texel) \
  vec4 LOAD_FN_(name)(ivec4 p) { return LOADED_TEXEL_(name, texelFetch(DATA_(name), texel(p, EXTENT_(name)), 0)); }
#define IMAGE_STORE_(name, texel)                                                                 \
  void STORE_FN_(name)(ivec4 p, vec4 v) {                                                         \
    imageStore(DATA_(name), texel(p, EXTENT_(name)), ROUNDED_(name, KEEP_(name, p, v)));          \
  }
#define IMAGE_LOAD_STORE_(name, texel) IMAGE_LOAD_(name, texel) IMAGE_STORE_(name, texel)

#define IN_IMAGE2D(name) IMAGE_DECL_(name, readonly, image2D) IMAGE_LOAD_(name, image2d_texel)
#define OUT_IMAGE2D(name) IMAGE_DECL_(name, writeonly, image2D) IMAGE_STORE_(name, image2d_texel)
#define INOUT_IMAGE2D(name) IMAGE_DECL_(name, , image2D) IMAGE_LOAD_STORE_(name, image2d_texel)
#define IN_IMAGE2D_SAMPLED(name) SAMPLER_DECL_(name, sampler2D) SAMPLER_LOAD_(name, image2d_texel)
#define IN_IMAGE3D(name) IMAGE_DECL_(name, readonly, image3D) IMAGE_LOAD_(name, image3d_texel)
#define OUT_IMAGE3D(name) IMAGE_DECL_(name, writeonly, image3D) IMAGE_STORE_(name, image3d_texel)
#define INOUT_IMAGE3D(name) IMAGE_DECL_(name, , image3D) IMAGE_LOAD_STORE_(name, image3d_texel)
#define IN_IMAGE3D_SAMPLED(name) SAMPLER_DECL_(name, sampler3D) SAMPLER_LOAD_(name, image3d_texel)

// Folded images, which hold the slices of a tensor in several columns:
//
//   slice 0    slice 2    slice 4
//   slice 1    slice 3    slice 5
//
// A column holds as many slices as fit in the height of the image, which depends on the other tensors that share the image.
#define FOLDED_TEXEL_(name) CAT(name, _texel)
#define FOLDED_(name, size)                                                                 \
  int CAT(name, _folded_rows) = quotient(size.y, 1.0 / float(EXTENT_(name).y));             \
  float CAT(name, _folded_rows_reciprocal) = 1.0 / float(CAT(name, _folded_rows));          \
  ivec2 FOLDED_TEXEL_(name)(ivec4 p, ivec4 s) {                                             \
    return folded_texel(p, s, CAT(name, _folded_rows), CAT(name, _folded_rows_reciprocal)); \
  }
#define FOLDED_DECL_(name, access) IMAGE_DECL_(name, access, image2D) FOLDED_(name, imageSize(DATA_(name)))

#define IN_FOLDED_IMAGE2D(name) FOLDED_DECL_(name, readonly) IMAGE_LOAD_(name, FOLDED_TEXEL_(name))
#define OUT_FOLDED_IMAGE2D(name) FOLDED_DECL_(name, writeonly) IMAGE_STORE_(name, FOLDED_TEXEL_(name))
#define INOUT_FOLDED_IMAGE2D(name) FOLDED_DECL_(name, ) IMAGE_LOAD_STORE_(name, FOLDED_TEXEL_(name))
#define IN_FOLDED_IMAGE2D_SAMPLED(name) \
  SAMPLER_DECL_(name, sampler2D) FOLDED_(name, textureSize(DATA_(name), 0)) SAMPLER_LOAD_(name, FOLDED_TEXEL_(name))

// Buffers of four-channel elements.
#define BUFFER_DECL_(name, access, type) \
  layout(set = 0, binding = CAT(BINDING_, name), std430) restrict access buffer CAT(name, _block) { type DATA_(name)[]; };
#define QUADS_DECL_(name, access) \
  BUFFER_DECL_(name, access, OF_ELEMENT_(QUAD_, name)) OF_ELEMENT_(GRID_DECL_, name)(name)
#define BUFFER_LOAD_(name, texel) \
  vec4 LOAD_FN_(name)(ivec4 p) { return UNPACKED_(name, DATA_(name)[texel(p, EXTENT_(name))]); }
#define BUFFER_STORE_(name, texel)                                                          \
  void STORE_FN_(name)(ivec4 p, vec4 v) {                                                   \
    DATA_(name)[texel(p, EXTENT_(name))] = OF_ELEMENT_(KEPT_, name)(name, p, v);            \
  }

#define IN_BUFFER(name) QUADS_DECL_(name, readonly) BUFFER_LOAD_(name, buffer_texel)
#define OUT_BUFFER(name) QUADS_DECL_(name, writeonly) BUFFER_STORE_(name, buffer_texel)
#define INOUT_BUFFER(name) QUADS_DECL_(name, ) BUFFER_LOAD_(name, buffer_texel) BUFFER_STORE_(name, buffer_texel)
#define IN_ROWS_BUFFER(name) QUADS_DECL_(name, readonly) BUFFER_LOAD_(name, rows_buffer_texel)
#define OUT_ROWS_BUFFER(name) QUADS_DECL_(name, writeonly) BUFFER_STORE_(name, rows_buffer_texel)
#define INOUT_ROWS_BUFFER(name) \
  QUADS_DECL_(name, ) BUFFER_LOAD_(name, rows_buffer_texel) BUFFER_STORE_(name, rows_buffer_texel)

// Buffers of four-channel elements read as texels, through a sampler where the device prefers that
// (DeviceTraits::samples_texel_buffers).
#ifdef SAMPLED_TEXEL_BUFFERS
#define TEXEL_BUFFER_DECL_(name) SAMPLER_DECL_(name, samplerBuffer)
#define BUFFER_TEXEL_(name, i) LOADED_TEXEL_(name, texelFetch(DATA_(name), i))
#else
#define TEXEL_BUFFER_DECL_(name) IMAGE_DECL_(name, readonly, imageBuffer)
#define BUFFER_TEXEL_(name, i) LOADED_TEXEL_(name, imageLoad(DATA_(name), i))
#endif
#define TEXEL_BUFFER_LOAD_(name, texel) \
  vec4 LOAD_FN_(name)(ivec4 p) { return BUFFER_TEXEL_(name, texel(p, EXTENT_(name))); }
#define IN_TEXEL_BUFFER(name) TEXEL_BUFFER_DECL_(name) TEXEL_BUFFER_LOAD_(name, buffer_texel)
#define IN_ROWS_TEXEL_BUFFER(name) TEXEL_BUFFER_DECL_(name) TEXEL_BUFFER_LOAD_(name, rows_buffer_texel)

// Prepacked weights are a grid of texels. `first`: the index of the first texel of row y. `texel`: the texel at (x, row).
#define TEXELS_(name, first, texel)                                    \
  int CAT(row_of_, name)(int y, int width) { return first; }           \
  vec4 CAT(load_in_row_, name)(int x, int row) { return texel; }       \
  vec4 LOAD_FN_(name)(int x, int y, int width) { return CAT(load_in_row_, name)(x, CAT(row_of_, name)(y, width)); }

#define TEXELS_IMAGE2D(name) \
  IMAGE_DECL_(name, readonly, image2D) TEXELS_(name, y, LOADED_TEXEL_(name, imageLoad(DATA_(name), ivec2(x, row))))
#define TEXELS_IMAGE2D_SAMPLED(name) \
  SAMPLER_DECL_(name, sampler2D) TEXELS_(name, y, LOADED_TEXEL_(name, texelFetch(DATA_(name), ivec2(x, row), 0)))
#define TEXELS_BUFFER(name) \
  QUADS_DECL_(name, readonly) TEXELS_(name, y * width, UNPACKED_(name, DATA_(name)[row + x]))
#define TEXELS_TEXEL_BUFFER(name) \
  TEXEL_BUFFER_DECL_(name) TEXELS_(name, y * width, BUFFER_TEXEL_(name, row + x))

// The four bytes of a texel of Q8 as a word.
#define WORDS_OF_TEXELS(name) BY_STORAGE_(WORDS_, name)
#define WORDS_(name, word) \
  uint CAT(load_word_, name)(int x, int y, int width) { int row = CAT(row_of_, name)(y, width); return word; }
#define WORDS_IMAGE2D(name) WORDS_(name, pack_bytes4(ivec4(imageLoad(DATA_(name), ivec2(x, row)))))
#define WORDS_IMAGE2D_SAMPLED(name) WORDS_(name, pack_bytes4(ivec4(texelFetch(DATA_(name), ivec2(x, row), 0))))
#define WORDS_BUFFER(name) WORDS_(name, DATA_(name)[row + x])
#ifdef SAMPLED_TEXEL_BUFFERS
#define WORDS_TEXEL_BUFFER(name) WORDS_(name, pack_bytes4(ivec4(texelFetch(DATA_(name), row + x))))
#else
#define WORDS_TEXEL_BUFFER(name) WORDS_(name, pack_bytes4(ivec4(imageLoad(DATA_(name), row + x))))
#endif

// The four bytes of a texel of Q8.
#define BYTES_OF_TEXELS(name) BY_STORAGE_(BYTES_, name)
#define BYTES_(name, bytes) uvec4 CAT(load_bytes_in_row_, name)(int x, int row) { return bytes; }
#define BYTES_IMAGE2D(name) BYTES_(name, imageLoad(DATA_(name), ivec2(x, row)))
#define BYTES_IMAGE2D_SAMPLED(name) BYTES_(name, texelFetch(DATA_(name), ivec2(x, row), 0))
#define BYTES_BUFFER(name) BYTES_(name, unpack_bytes4(DATA_(name)[row + x]))
#ifdef SAMPLED_TEXEL_BUFFERS
#define BYTES_TEXEL_BUFFER(name) BYTES_(name, texelFetch(DATA_(name), row + x))
#else
#define BYTES_TEXEL_BUFFER(name) BYTES_(name, imageLoad(DATA_(name), row + x))
#endif

#include "half_tensor.glsl"
#include "texel_address.glsl"
#include "wide_texels.glsl"
#include "linear_tensor.glsl"
