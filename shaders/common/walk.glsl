// Running addresses of texels. A place is the address of a texel of a channels4 tensor: its index in a buffer, or its
// coordinates in an image. A kernel multiplies out a place once, and then only adds to it to reach the next slice.
// After the declaration of the tensor:
//   SLICES_OF_TENSOR(name)  for an input:
//       PLACE_OF(name)                                   the type of a place
//       place_of_<name>(ivec4 p)                         the place of the texel p = (w, h, slice, n)
//       next_slice_of_<name>(inout place)                advances to the next slice of the pixel
//       vec4 fetch_<name>(place)                         loads the texel
//       vec4 fetch_or_zero_<name>(place, bool inside)    loads it always, and returns zero unless `inside`
//       beside_<name>(place, int columns)                the place that many columns to the right
//       below_<name>(place, int rows)                    the place that many rows below
//   HALF_SLICES_OF_TENSOR(name)  for an input, with HALF_PRODUCTS: f16vec4 fetch_half_<name>(place) and
//       fetch_half_or_zero_<name>(place, bool inside) in place of the two fetches
//   PLACES_OF_OUTPUT(name)  for an output: void put_<name>(place, vec4 v) in place of the fetches; stores unused channels, too
//
// A linear tensor of CHANNELS channels, at most three, has one slice, whose channels are in separate planes.
//
// A folded image holds its slices in several columns (tensor.glsl). next_slice_of_<name>() does not leave the column:
//   in_column_of_<name>(place, int n)     whether the n slices from `place` on are in its column
//   next_column_of_<name>(inout place)    moves from below the last slice of a column to the first slice of the next
//   begins_column_of_<name>(int slice)    whether the slice is the first of a column
// For other tensors these are constant, and folds_<name> is false. A loop over many slices has an inner loop for each column,
// which does no more work than the loop over a tensor that is not folded:
//   int k = begin;
//   EACH_COLUMN_OF(name, k < end) {
//     for (; k < end && in_column_of_<name>(place, 1); ++k) ...
//     if (!in_column_of_<name>(place, 1)) next_column_of_<name>(place);
//   }
//
// Returns whether places are offsets in a buffer. In a loop over the slices of a buffer, the pixels of a tile keep their places
// and share one running offset, which compilers hold in a scalar register where the device has them. In an image each pixel
// advances its own coordinates, because to add an offset to them would take one more instruction.
bool is_buffer_offset(int place) { return true; }
bool is_buffer_offset(ivec2 place) { return false; }
bool is_buffer_offset(ivec3 place) { return false; }
#define SLICES_OF_TENSOR(name) BY_STORAGE_(SLICES_, name)
#define HALF_SLICES_OF_TENSOR(name) BY_STORAGE_(HALF_SLICES_, name)
#define PLACES_OF_OUTPUT(name) BY_STORAGE_(PUT_, name)
#define PLACE_OF(name) CAT(PLACE_, CAT(STORAGE_, name))
#define FETCH_FN_(name) CAT(fetch_, name)
#define WALK_(name, type, texel, slice, row, column)                                        \
  type CAT(place_of_, name)(ivec4 p) { return texel(p, EXTENT_(name)); }                    \
  void CAT(next_slice_of_, name)(inout type place) { place += slice; }                      \
  type CAT(beside_, name)(type place, int columns) { return place + columns * column; }     \
  type CAT(below_, name)(type place, int rows) { return place + rows * row; }
#define ONE_COLUMN_(name, type)                                       \
  const bool CAT(folds_, name) = false;                               \
  bool CAT(in_column_of_, name)(type place, int n) { return true; }   \
  bool CAT(begins_column_of_, name)(int slice) { return false; }      \
  void CAT(next_column_of_, name)(inout type place) {}
#define COLUMNS_(name)                                                                                    \
  const bool CAT(folds_, name) = true;                                                                    \
  bool CAT(in_column_of_, name)(ivec2 place, int n) {                                                     \
    return place.y + (n - 1) * EXTENT_(name).y < CAT(name, _rows) * EXTENT_(name).y;                      \
  }                                                                                                       \
  bool CAT(begins_column_of_, name)(int slice) {                                                          \
    return quotient(slice, CAT(name, _rows_reciprocal)) * CAT(name, _rows) == slice;                      \
  }                                                                                                       \
  void CAT(next_column_of_, name)(inout ivec2 place) {                                                    \
    place += ivec2(EXTENT_(name).x * EXTENT_(name).w, -CAT(name, _rows) * EXTENT_(name).y);               \
  }
#define SLICES_2D_(name, texel) WALK_(name, ivec2, texel, ivec2(0, EXTENT_(name).y), ivec2(0, 1), ivec2(1, 0))
#define WALK_2D_(name) SLICES_2D_(name, image2d_texel) ONE_COLUMN_(name, ivec2)
#define WALK_FOLDED_(name) SLICES_2D_(name, FOLDED_TEXEL_(name)) COLUMNS_(name)
#define WALK_3D_(name) \
  WALK_(name, ivec3, image3d_texel, ivec3(0, 0, 1), ivec3(0, 1, 0), ivec3(1, 0, 0)) ONE_COLUMN_(name, ivec3)
#define WALK_BUFFER_(name) \
  WALK_(name, int, buffer_texel, EXTENT_(name).x * EXTENT_(name).y, EXTENT_(name).x, 1) ONE_COLUMN_(name, int)
#define WALK_ROWS_(name)                                                                                    \
  WALK_(name, int, rows_buffer_texel, EXTENT_(name).x, EXTENT_(name).x * slices(EXTENT_(name).z), 1)        \
  ONE_COLUMN_(name, int)

#define PLANES_TEXEL_(name) CAT(name, _in_planes)
#define WALK_PLANES_(name)                                                                                       \
  int PLANES_TEXEL_(name)(ivec4 p, ivec4 s) { return (p.w * s.z * s.y + p.y) * s.x + p.x; }                      \
  WALK_(name, int, PLANES_TEXEL_(name), 0, EXTENT_(name).x, 1) ONE_COLUMN_(name, int)
#define FETCH_PLANES_(name)                                                                                      \
  vec4 FETCH_FN_(name)(int place) {                                                                              \
    int plane = EXTENT_(name).x * EXTENT_(name).y;                                                               \
    vec4 v = vec4(0);                                                                                            \
    [[unroll]] for (int c = 0; c < CHANNELS; ++c) v[c] = LOAD_FN_(name)(place + c * plane);                          \
    return v;                                                                                                    \
  }                                                                                                              \
  FETCH_OR_ZERO_(name, int)

#define EACH_COLUMN_OF(name, more) CAT(EACH_, CAT(COLUMNS_OF_, CAT(STORAGE_, name)))(more)
#define EACH_ONE_COLUMN(more)
#define EACH_COLUMNS(more) while (more)

// Loads before it selects: a load inside the selection would be a branch.
#define FETCH_OR_ZERO_(name, type)                                \
  vec4 CAT(fetch_or_zero_, name)(type place, bool inside) {       \
    vec4 v = FETCH_FN_(name)(place);                              \
    return inside ? v : vec4(0);                                  \
  }
#define FETCH_IMAGE_(name, type)                                                         \
  vec4 FETCH_FN_(name)(type place) { return LOADED_TEXEL_(name, imageLoad(DATA_(name), place)); } \
  FETCH_OR_ZERO_(name, type)
#define FETCH_SAMPLER_(name, type)                                                       \
  vec4 FETCH_FN_(name)(type place) { return LOADED_TEXEL_(name, texelFetch(DATA_(name), place, 0)); } \
  FETCH_OR_ZERO_(name, type)
#define FETCH_TEXEL_BUFFER_(name)                                   \
  vec4 FETCH_FN_(name)(int place) { return BUFFER_TEXEL_(name, place); } \
  FETCH_OR_ZERO_(name, int)
#define FETCH_HALVES_(name, type)                                                                    \
  f16vec4 CAT(fetch_half_, name)(type place) { return f16vec4(FETCH_FN_(name)(place)); }             \
  f16vec4 CAT(fetch_half_or_zero_, name)(type place, bool inside) {                                  \
    f16vec4 v = CAT(fetch_half_, name)(place);                                                       \
    return inside ? v : f16vec4(0);                                                                  \
  }

#define PLACE_IMAGE2D ivec2
#define PLACE_IMAGE2D_SAMPLED ivec2
#define PLACE_FOLDED_IMAGE2D ivec2
#define PLACE_FOLDED_IMAGE2D_SAMPLED ivec2
#define PLACE_IMAGE3D ivec3
#define PLACE_IMAGE3D_SAMPLED ivec3
#define PLACE_BUFFER int
#define PLACE_TEXEL_BUFFER int
#define PLACE_ROWS_BUFFER int
#define PLACE_ROWS_TEXEL_BUFFER int
#define PLACE_LINEAR int
#define PLACE_LINEAR_TEXEL int

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
#define FETCH_BUFFER_(name)                                                                           \
  vec4 FETCH_FN_(name)(int place) { return UNPACKED_(name, DATA_(name)[place]); }                     \
  vec4 CAT(fetch_or_zero_, name)(int place, bool inside) {                                            \
    OF_ELEMENT_(QUAD_, name) bits = DATA_(name)[place];                                               \
    return UNPACKED_(name, inside ? bits : OF_ELEMENT_(ZERO_QUAD_, name)(name));                      \
  }
#define SLICES_IMAGE2D(name) WALK_2D_(name) FETCH_IMAGE_(name, ivec2)
#define SLICES_IMAGE2D_SAMPLED(name) WALK_2D_(name) FETCH_SAMPLER_(name, ivec2)
#define SLICES_FOLDED_IMAGE2D(name) WALK_FOLDED_(name) FETCH_IMAGE_(name, ivec2)
#define SLICES_FOLDED_IMAGE2D_SAMPLED(name) WALK_FOLDED_(name) FETCH_SAMPLER_(name, ivec2)
#define SLICES_IMAGE3D(name) WALK_3D_(name) FETCH_IMAGE_(name, ivec3)
#define SLICES_IMAGE3D_SAMPLED(name) WALK_3D_(name) FETCH_SAMPLER_(name, ivec3)
#define SLICES_BUFFER(name) WALK_BUFFER_(name) FETCH_BUFFER_(name)
#define SLICES_TEXEL_BUFFER(name) WALK_BUFFER_(name) FETCH_TEXEL_BUFFER_(name)
#define SLICES_ROWS_BUFFER(name) WALK_ROWS_(name) FETCH_BUFFER_(name)
#define SLICES_ROWS_TEXEL_BUFFER(name) WALK_ROWS_(name) FETCH_TEXEL_BUFFER_(name)
#define SLICES_LINEAR(name) WALK_PLANES_(name) FETCH_PLANES_(name)
#define SLICES_LINEAR_TEXEL(name) SLICES_LINEAR(name)

#define PUT_FN_(name) CAT(put_, name)
#define PUT_TEXEL_(name, type) \
  void PUT_FN_(name)(type place, vec4 v) { imageStore(DATA_(name), place, ROUNDED_(name, v)); }
#define PUT_IN_BUFFER_(name) \
  void PUT_FN_(name)(int place, vec4 v) { DATA_(name)[place] = PACKED_(name, v); }
#define PUT_IMAGE2D(name) WALK_2D_(name) PUT_TEXEL_(name, ivec2)
#define PUT_FOLDED_IMAGE2D(name) WALK_FOLDED_(name) PUT_TEXEL_(name, ivec2)
#define PUT_IMAGE3D(name) WALK_3D_(name) PUT_TEXEL_(name, ivec3)
#define PUT_BUFFER(name) WALK_BUFFER_(name) PUT_IN_BUFFER_(name)
#define PUT_ROWS_BUFFER(name) WALK_ROWS_(name) PUT_IN_BUFFER_(name)

#define FETCH_HALVES_OF_BUFFER_(name)                                                  \
  f16vec4 CAT(fetch_half_, name)(int place) { return halves(DATA_(name)[place]); }     \
  f16vec4 CAT(fetch_half_or_zero_, name)(int place, bool inside) {                     \
    uvec2 bits = DATA_(name)[place];                                                   \
    return halves(inside ? bits : uvec2(0));                                           \
  }
#define HALF_SLICES_IMAGE2D(name) SLICES_IMAGE2D(name) FETCH_HALVES_(name, ivec2)
#define HALF_SLICES_IMAGE2D_SAMPLED(name) SLICES_IMAGE2D_SAMPLED(name) FETCH_HALVES_(name, ivec2)
#define HALF_SLICES_FOLDED_IMAGE2D(name) SLICES_FOLDED_IMAGE2D(name) FETCH_HALVES_(name, ivec2)
#define HALF_SLICES_FOLDED_IMAGE2D_SAMPLED(name) SLICES_FOLDED_IMAGE2D_SAMPLED(name) FETCH_HALVES_(name, ivec2)
#define HALF_SLICES_IMAGE3D(name) SLICES_IMAGE3D(name) FETCH_HALVES_(name, ivec3)
#define HALF_SLICES_IMAGE3D_SAMPLED(name) SLICES_IMAGE3D_SAMPLED(name) FETCH_HALVES_(name, ivec3)
#define HALF_SLICES_BUFFER(name) WALK_BUFFER_(name) FETCH_HALVES_OF_BUFFER_(name)
#define HALF_SLICES_TEXEL_BUFFER(name) SLICES_TEXEL_BUFFER(name) FETCH_HALVES_(name, int)
#define HALF_SLICES_ROWS_BUFFER(name) WALK_ROWS_(name) FETCH_HALVES_OF_BUFFER_(name)
#define HALF_SLICES_ROWS_TEXEL_BUFFER(name) SLICES_ROWS_TEXEL_BUFFER(name) FETCH_HALVES_(name, int)
