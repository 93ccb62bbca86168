// Running addresses of texels. The address of a texel of a channels4 tensor is its index in a buffer, or its coordinates in an
// image. A kernel computes an address by multiplications once, and then only adds to it to reach the next slice.
// After the declaration of the tensor:
//   SLICES_OF_TENSOR(name)  for an input:
//       ADDRESS_TYPE(name)                                 the type of an address
//       address_of_<name>(ivec4 p)                         the address of the texel p = (w, h, slice, n)
//       next_slice_of_<name>(inout address)                advances to the next slice of the pixel
//       vec4 fetch_<name>(address)                         loads the texel
//       vec4 fetch_or_zero_<name>(address, bool inside)    loads it always, and returns zero unless `inside`
//       add_columns_<name>(address, int columns)           the address that many columns to the right
//       add_rows_<name>(address, int rows)                 the address that many rows below
//   HALF_SLICES_OF_TENSOR(name)  for an input, with HALF_PRODUCTS: f16vec4 fetch_half_<name>(address) and
//       fetch_half_or_zero_<name>(address, bool inside) instead of the two fetches
//   ADDRESSES_OF_OUTPUT(name)  for an output: void store_at_<name>(address, vec4 v) instead of the fetches; it also stores
//       unused channels
//
// A linear tensor of CHANNELS channels, at most three, has one slice, whose channels are in separate planes.
//
// A folded image holds its slices in several columns (tensor.glsl). next_slice_of_<name>() does not leave the column:
//   in_column_of_<name>(address, int n)     whether the n slices from `address` on are in its column
//   next_column_of_<name>(inout address)    moves from below the last slice of a column to the first slice of the next
//   begins_column_of_<name>(int slice)      whether the slice is the first of a column
// For other tensors these are constant, and folds_<name> is false. A loop over many slices has an inner loop for each column,
// which does no more work than the loop over a tensor that is not folded:
//   int k = begin;
//   EACH_COLUMN_OF(name, k < end) {
//     for (; k < end && in_column_of_<name>(address, 1); ++k) ...
//     if (!in_column_of_<name>(address, 1)) next_column_of_<name>(address);
//   }
//
// Returns whether an address is an offset in a buffer. In a loop over the slices of a buffer, the pixels of a tile keep their
// addresses and share one running offset, which compilers hold in a scalar register where the device has them. In an image
// each pixel advances its own coordinates, because to add an offset to them would take one more instruction.
bool is_buffer_offset(int address) { return true; }
bool is_buffer_offset(ivec2 address) { return false; }
bool is_buffer_offset(ivec3 address) { return false; }
#define SLICES_OF_TENSOR(name) BY_STORAGE_(SLICES_, name)
#define HALF_SLICES_OF_TENSOR(name) BY_STORAGE_(HALF_SLICES_, name)
#define ADDRESSES_OF_OUTPUT(name) BY_STORAGE_(STORE_AT_, name)
#define ADDRESS_TYPE(name) CAT(ADDRESS_, CAT(STORAGE_, name))
#define FETCH_FN_(name) CAT(fetch_, name)
#define ADDRESS_FUNCTIONS_(name, type, texel, slice, row, column)                                \
  type CAT(address_of_, name)(ivec4 p) { return texel(p, EXTENT_(name)); }                       \
  void CAT(next_slice_of_, name)(inout type address) { address += slice; }                       \
  type CAT(add_columns_, name)(type address, int columns) { return address + columns * column; } \
  type CAT(add_rows_, name)(type address, int rows) { return address + rows * row; }
#define ONE_COLUMN_(name, type)                                       \
  const bool CAT(folds_, name) = false;                               \
  bool CAT(in_column_of_, name)(type address, int n) { return true; } \
  bool CAT(begins_column_of_, name)(int slice) { return false; }      \
  void CAT(next_column_of_, name)(inout type address) {}
#define COLUMNS_(name)                                                                               \
  const bool CAT(folds_, name) = true;                                                               \
  bool CAT(in_column_of_, name)(ivec2 address, int n) {                                              \
    return address.y + (n - 1) * EXTENT_(name).y < CAT(name, _folded_rows) * EXTENT_(name).y;        \
  }                                                                                                  \
  bool CAT(begins_column_of_, name)(int slice) {                                                     \
    return quotient(slice, CAT(name, _folded_rows_reciprocal)) * CAT(name, _folded_rows) == slice;   \
  }                                                                                                  \
  void CAT(next_column_of_, name)(inout ivec2 address) {                                             \
    address += ivec2(EXTENT_(name).x * EXTENT_(name).w, -CAT(name, _folded_rows) * EXTENT_(name).y); \
  }
#define SLICES_2D_(name, texel) ADDRESS_FUNCTIONS_(name, ivec2, texel, ivec2(0, EXTENT_(name).y), ivec2(0, 1), ivec2(1, 0))
#define ADDRESSES_2D_(name) SLICES_2D_(name, image2d_texel) ONE_COLUMN_(name, ivec2)
#define ADDRESSES_FOLDED_(name) SLICES_2D_(name, FOLDED_TEXEL_(name)) COLUMNS_(name)
#define ADDRESSES_3D_(name) \
  ADDRESS_FUNCTIONS_(name, ivec3, image3d_texel, ivec3(0, 0, 1), ivec3(0, 1, 0), ivec3(1, 0, 0)) ONE_COLUMN_(name, ivec3)
#define ADDRESSES_BUFFER_(name) \
  ADDRESS_FUNCTIONS_(name, int, buffer_texel, EXTENT_(name).x * EXTENT_(name).y, EXTENT_(name).x, 1) ONE_COLUMN_(name, int)
#define ADDRESSES_ROWS_(name)                                                                                     \
  ADDRESS_FUNCTIONS_(name, int, rows_buffer_texel, EXTENT_(name).x, EXTENT_(name).x * slices(EXTENT_(name).z), 1) \
  ONE_COLUMN_(name, int)

#define PLANES_TEXEL_(name) CAT(name, _in_planes)
#define ADDRESSES_PLANES_(name)                                                             \
  int PLANES_TEXEL_(name)(ivec4 p, ivec4 s) { return (p.w * s.z * s.y + p.y) * s.x + p.x; } \
  ADDRESS_FUNCTIONS_(name, int, PLANES_TEXEL_(name), 0, EXTENT_(name).x, 1) ONE_COLUMN_(name, int)
#define FETCH_PLANES_(name)                                                                   \
  vec4 FETCH_FN_(name)(int address) {                                                         \
    int plane = EXTENT_(name).x * EXTENT_(name).y;                                            \
    vec4 v = vec4(0);                                                                         \
    [[unroll]] for (int c = 0; c < CHANNELS; ++c) v[c] = LOAD_FN_(name)(address + c * plane); \
    return v;                                                                                 \
  }                                                                                           \
  FETCH_OR_ZERO_(name, int)

#define EACH_COLUMN_OF(name, more) CAT(EACH_, CAT(COLUMNS_OF_, CAT(STORAGE_, name)))(more)
#define EACH_ONE_COLUMN(more)
#define EACH_COLUMNS(more) while (more)

// Loads before it selects: a load inside the selection would be a branch.
#define FETCH_OR_ZERO_(name, type)                            \
  vec4 CAT(fetch_or_zero_, name)(type address, bool inside) { \
    vec4 v = FETCH_FN_(name)(address);                        \
    return inside ? v : vec4(0);                              \
  }
#define FETCH_IMAGE_(name, type)                                                                      \
  vec4 FETCH_FN_(name)(type address) { return LOADED_TEXEL_(name, imageLoad(DATA_(name), address)); } \
  FETCH_OR_ZERO_(name, type)
#define FETCH_SAMPLER_(name, type)                                                                        \
  vec4 FETCH_FN_(name)(type address) { return LOADED_TEXEL_(name, texelFetch(DATA_(name), address, 0)); } \
  FETCH_OR_ZERO_(name, type)
#define FETCH_TEXEL_BUFFER_(name)                                            \
  vec4 FETCH_FN_(name)(int address) { return BUFFER_TEXEL_(name, address); } \
  FETCH_OR_ZERO_(name, int)
#define FETCH_HALVES_(name, type)                                                            \
  f16vec4 CAT(fetch_half_, name)(type address) { return f16vec4(FETCH_FN_(name)(address)); } \
  f16vec4 CAT(fetch_half_or_zero_, name)(type address, bool inside) {                        \
    f16vec4 v = CAT(fetch_half_, name)(address);                                             \
    return inside ? v : f16vec4(0);                                                          \
  }

#define ADDRESS_IMAGE2D ivec2
#define ADDRESS_IMAGE2D_SAMPLED ivec2
#define ADDRESS_FOLDED_IMAGE2D ivec2
#define ADDRESS_FOLDED_IMAGE2D_SAMPLED ivec2
#define ADDRESS_IMAGE3D ivec3
#define ADDRESS_IMAGE3D_SAMPLED ivec3
#define ADDRESS_BUFFER int
#define ADDRESS_TEXEL_BUFFER int
#define ADDRESS_ROWS_BUFFER int
#define ADDRESS_ROWS_TEXEL_BUFFER int
#define ADDRESS_LINEAR int
#define ADDRESS_LINEAR_TEXEL int

#define COLUMNS_OF_IMAGE2D ONE_COLUMN
#define COLUMNS_OF_IMAGE2D_SAMPLED ONE_COLUMN
#define COLUMNS_OF_FOLDED_IMAGE2D COLUMNS
#define COLUMNS_OF_FOLDED_IMAGE2D_SAMPLED COLUMNS
#define COLUMNS_OF_IMAGE3D ONE_COLUMN
#define COLUMNS_OF_IMAGE3D_SAMPLED ONE_COLUMN
#define COLUMNS_OF_BUFFER ONE_COLUMN
#define COLUMNS_OF_TEXEL_BUFFER ONE_COLUMN
#define COLUMNS_OF_ROWS_BUFFER ONE_COLUMN
#define COLUMNS_OF_ROWS_TEXEL_BUFFER ONE_COLUMN
#define COLUMNS_OF_LINEAR ONE_COLUMN
#define COLUMNS_OF_LINEAR_TEXEL ONE_COLUMN

// Selects bits before they are unpacked: the bits of halves fill half as many registers as the floats.
#define ZERO_QUAD_F32(name) vec4(0)
#define ZERO_QUAD_F16(name) uvec2(0)
#define ZERO_QUAD_Q8(name) (uint(GRID_(name).y) * 0x01010101u)
#define FETCH_BUFFER_(name)                                                           \
  vec4 FETCH_FN_(name)(int address) { return UNPACKED_(name, DATA_(name)[address]); } \
  vec4 CAT(fetch_or_zero_, name)(int address, bool inside) {                          \
    OF_ELEMENT_(QUAD_, name) bits = DATA_(name)[address];                             \
    return UNPACKED_(name, inside ? bits : OF_ELEMENT_(ZERO_QUAD_, name)(name));      \
  }
#define SLICES_IMAGE2D(name) ADDRESSES_2D_(name) FETCH_IMAGE_(name, ivec2)
#define SLICES_IMAGE2D_SAMPLED(name) ADDRESSES_2D_(name) FETCH_SAMPLER_(name, ivec2)
#define SLICES_FOLDED_IMAGE2D(name) ADDRESSES_FOLDED_(name) FETCH_IMAGE_(name, ivec2)
#define SLICES_FOLDED_IMAGE2D_SAMPLED(name) ADDRESSES_FOLDED_(name) FETCH_SAMPLER_(name, ivec2)
#define SLICES_IMAGE3D(name) ADDRESSES_3D_(name) FETCH_IMAGE_(name, ivec3)
#define SLICES_IMAGE3D_SAMPLED(name) ADDRESSES_3D_(name) FETCH_SAMPLER_(name, ivec3)
#define SLICES_BUFFER(name) ADDRESSES_BUFFER_(name) FETCH_BUFFER_(name)
#define SLICES_TEXEL_BUFFER(name) ADDRESSES_BUFFER_(name) FETCH_TEXEL_BUFFER_(name)
#define SLICES_ROWS_BUFFER(name) ADDRESSES_ROWS_(name) FETCH_BUFFER_(name)
#define SLICES_ROWS_TEXEL_BUFFER(name) ADDRESSES_ROWS_(name) FETCH_TEXEL_BUFFER_(name)
#define SLICES_LINEAR(name) ADDRESSES_PLANES_(name) FETCH_PLANES_(name)
#define SLICES_LINEAR_TEXEL(name) SLICES_LINEAR(name)

#define STORE_AT_FN_(name) CAT(store_at_, name)
#define STORE_AT_TEXEL_(name, type) \
  void STORE_AT_FN_(name)(type address, vec4 v) { imageStore(DATA_(name), address, ROUNDED_(name, v)); }
#define STORE_AT_BUFFER_(name) \
  void STORE_AT_FN_(name)(int address, vec4 v) { DATA_(name)[address] = PACKED_(name, v); }
#define STORE_AT_IMAGE2D(name) ADDRESSES_2D_(name) STORE_AT_TEXEL_(name, ivec2)
#define STORE_AT_FOLDED_IMAGE2D(name) ADDRESSES_FOLDED_(name) STORE_AT_TEXEL_(name, ivec2)
#define STORE_AT_IMAGE3D(name) ADDRESSES_3D_(name) STORE_AT_TEXEL_(name, ivec3)
#define STORE_AT_BUFFER(name) ADDRESSES_BUFFER_(name) STORE_AT_BUFFER_(name)
#define STORE_AT_ROWS_BUFFER(name) ADDRESSES_ROWS_(name) STORE_AT_BUFFER_(name)

#define FETCH_HALVES_OF_BUFFER_(name)                                                  \
  f16vec4 CAT(fetch_half_, name)(int address) { return halves(DATA_(name)[address]); } \
  f16vec4 CAT(fetch_half_or_zero_, name)(int address, bool inside) {                   \
    uvec2 bits = DATA_(name)[address];                                                 \
    return halves(inside ? bits : uvec2(0));                                           \
  }
#define HALF_SLICES_IMAGE2D(name) SLICES_IMAGE2D(name) FETCH_HALVES_(name, ivec2)
#define HALF_SLICES_IMAGE2D_SAMPLED(name) SLICES_IMAGE2D_SAMPLED(name) FETCH_HALVES_(name, ivec2)
#define HALF_SLICES_FOLDED_IMAGE2D(name) SLICES_FOLDED_IMAGE2D(name) FETCH_HALVES_(name, ivec2)
#define HALF_SLICES_FOLDED_IMAGE2D_SAMPLED(name) SLICES_FOLDED_IMAGE2D_SAMPLED(name) FETCH_HALVES_(name, ivec2)
#define HALF_SLICES_IMAGE3D(name) SLICES_IMAGE3D(name) FETCH_HALVES_(name, ivec3)
#define HALF_SLICES_IMAGE3D_SAMPLED(name) SLICES_IMAGE3D_SAMPLED(name) FETCH_HALVES_(name, ivec3)
#define HALF_SLICES_BUFFER(name) ADDRESSES_BUFFER_(name) FETCH_HALVES_OF_BUFFER_(name)
#define HALF_SLICES_TEXEL_BUFFER(name) SLICES_TEXEL_BUFFER(name) FETCH_HALVES_(name, int)
#define HALF_SLICES_ROWS_BUFFER(name) ADDRESSES_ROWS_(name) FETCH_HALVES_OF_BUFFER_(name)
#define HALF_SLICES_ROWS_TEXEL_BUFFER(name) SLICES_ROWS_TEXEL_BUFFER(name) FETCH_HALVES_(name, int)
