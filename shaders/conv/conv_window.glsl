// Shared code of direct convolutions: an invocation computes TILE_P neighbouring pixels of a row and TILE_S slices of
// output channels.
//
// If KERNEL_X is not 0, KERNEL_X and STRIDE_X are constants (and the dilation along x is 1), and the columns
// of a row are loaded once for all its taps.
//
// With OVERLAP a row has at least TILE_P pixels, and its last tile begins earlier instead of exceeding the
// row; the overlap is stored once. INTERIOR_BEGIN, INTERIOR_END: the range of columns of a tile that are never
// padding.

#include "conv_window.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

TENSOR_IN(x)
#ifdef HALF_PRODUCTS
HALF_SLICES_OF_TENSOR(x)
#define FETCH_X fetch_half_x
#define FETCH_X_OR_ZERO fetch_half_or_zero_x
#else
SLICES_OF_TENSOR(x)
#ifdef DOT_PRODUCTS
#include "dot_products.glsl"
WORDS_OF_SLICES(x)
#define FETCH_X fetch_word_x
#define FETCH_X_OR_ZERO fetch_word_or_zero_x
#else
#define FETCH_X fetch_x
#define FETCH_X_OR_ZERO fetch_or_zero_x
#endif
#endif
TEXELS_IN(w)
TENSOR_OUT(y)
#include "epilogue.glsl"
#ifdef RESIDUAL
TENSOR_IN(residual)
#endif

#include "conv_tile.glsl"
#include "range_of_results.glsl"

#if KERNEL_X > 0
const int COLUMNS = (TILE_P - 1) * STRIDE_X + KERNEL_X;
#else
const int COLUMNS = TILE_P;
#endif
int column[COLUMNS];
bool inside[COLUMNS];

// Computes the columns of x that the taps of one row multiply, and which are `inside` of x; columns in the
// padding are zero. UNPADDED: no column is in the padding, except for pixels beyond the row, which are not stored.
//
// DOT_PRODUCTS: rows of the padding are multiplied, too, because the zero point times the weights is subtracted from all sums.
bool row_inside = true;
void locate_columns(int first, int step) {
  [[unroll]] for (int i = 0; i < COLUMNS; ++i) {
    int at = first + i * step;
    inside[i] = row_inside && at >= 0 && at < x_shape.x;
    column[i] = clamp(at, 0, x_shape.x - 1);
  }
}
// Has no branches, because lavapipe would read their results from memory at each use.
FACTORS load_column(int i, ADDRESS_TYPE(x) address) {
#ifdef UNPADDED
  return FETCH_X(address);
#else
#if defined(INTERIOR_END) && !defined(DOT_PRODUCTS)
  if (i >= INTERIOR_BEGIN && i < INTERIOR_END) return FETCH_X(address);
#endif
  return FETCH_X_OR_ZERO(address, inside[i]);
#endif
}

// The running addresses (texel_address.glsl) of the columns of a row of x.
struct ColumnAddresses {
  ADDRESS_TYPE(x) row, running_offset, of_column[COLUMNS];
};

// Returns the addresses of the columns first, first + step, ... of row p.y. Call it after locate_columns(first, step).
// It clamps addresses instead of adding clamped columns, which AMD's compiler would do in the loop.
ColumnAddresses column_addresses(ivec4 p, int first, int step) {
  ColumnAddresses addresses;
  addresses.row = address_of_x(p);
  addresses.running_offset = ADDRESS_TYPE(x)(0);
  [[unroll]] for (int i = 0; i < COLUMNS; ++i)
    addresses.of_column[i] =
        clamp(add_columns_x(addresses.row, first + i * step), addresses.row, add_columns_x(addresses.row, x_shape.x - 1));
  // In folded images the columns advance instead of the row. Otherwise the columns and their sums with the row
  // would both occupy registers.
  if (folds_x) {
    [[unroll]] for (int i = 0; i < COLUMNS; ++i) column[i] += int(addresses.row);
    addresses.row = add_columns_x(addresses.row, -int(addresses.row));
  }
  return addresses;
}

FACTORS[COLUMNS] next_columns(inout ColumnAddresses addresses) {
  FACTORS x[COLUMNS];
#ifdef OVERLAP
  // Columns are contiguous, so one address suffices. For a column in the padding the first column that is never
  // padding is loaded instead.
  ADDRESS_TYPE(x) interior = is_buffer_offset(addresses.row) ? addresses.of_column[INTERIOR_BEGIN]
                                                             : add_columns_x(addresses.row, column[INTERIOR_BEGIN]);
  [[unroll]] for (int i = 0; i < COLUMNS; ++i) {
    bool loads = i >= INTERIOR_BEGIN && i < INTERIOR_END || inside[i];
    x[i] = load_column(i, add_columns_x(interior, loads ? i - INTERIOR_BEGIN : 0));
  }
  if (is_buffer_offset(addresses.row))
    next_slice_of_x(addresses.of_column[INTERIOR_BEGIN]);
  else
    next_slice_of_x(addresses.row);
#else
  if (is_buffer_offset(addresses.row)) {
    [[unroll]] for (int i = 0; i < COLUMNS; ++i) x[i] = load_column(i, addresses.of_column[i] + addresses.running_offset);
    next_slice_of_x(addresses.running_offset);
  } else {
    [[unroll]] for (int i = 0; i < COLUMNS; ++i) x[i] = load_column(i, add_columns_x(addresses.row, column[i]));
    next_slice_of_x(addresses.row);
  }
#endif
  return x;
}

// Advances to the next column of slices after the last slice of a column.
void leave_column(inout ColumnAddresses addresses) {
  if (in_column_of_x(addresses.row, 1)) return;
  ADDRESS_TYPE(x) next = addresses.row;
  next_column_of_x(next);
  int step = int(next - addresses.row);
  addresses.row = add_columns_x(next, -step);
  [[unroll]] for (int i = 0; i < COLUMNS; ++i) column[i] += step;
}

int blocks_of_slices() { return (slices(y_shape.z) + TILE_S - 1) / TILE_S; }

// Returns (x, y, slice, image) of the first texel that this invocation computes. The image may exceed the
// last. With BROADCAST, where all invocations of a subgroup have the same slice, the slice may, too. With
// UNIFORM_SLICES all invocations of a workgroup have the same slice and image (the workgroup's y and z), so
// that loads of weights are uniform.
ivec4 first_texel(int zero) {
  int blocks_x = (y_shape.x + TILE_P - 1) / TILE_P;
#ifdef BROADCAST
  ivec2 block = block_of_invocation(blocks_x * y_shape.y * y_shape.w);
  ivec2 by_column = divide(block.y, blocks_x);
  ivec2 by_row = divide(by_column.x, y_shape.y);
  ivec2 by_slice = ivec2(by_row.x, block.x);
#elif defined(UNIFORM_SLICES)
  ivec2 by_column = divide(tile_of_row(), blocks_x);
  ivec2 by_row = ivec2(0, by_column.x);
  ivec2 by_slice = ivec2(by_row.y < y_shape.y ? int(gl_WorkGroupID.z) : y_shape.w, gl_WorkGroupID.y);
#else
  ivec2 by_column = divide(tile_index() + zero, blocks_x);
  ivec2 by_row = divide(by_column.x, y_shape.y);
  ivec2 by_slice = divide(by_row.x, blocks_of_slices());
#endif
  int x = TILE_P * by_column.y;
#ifdef OVERLAP
  x = min(x, y_shape.x - TILE_P);
#endif
  return ivec4(x, by_row.y, TILE_S * by_slice.y, by_slice.x);
}
ivec4 first_texel() { return first_texel(0); }

// Returns whether the tile that begins at column `first`, and no other tile of the row, stores column `x`.
bool is_stored(int x, int first) {
#ifdef OVERLAP
  return x >= (first + TILE_P - 1) / TILE_P * TILE_P;
#else
  return x < y_shape.x;
#endif
}

// Stores the tile that begins at texel `first`. `taps`: taps of the window. `grid_width`: texels of a row of weights.
void store_tile(ivec4 first, int taps, int grid_width) {
  int padded_slices = TILE_S * blocks_of_slices();
#ifdef PARTS
  share_partial_sums();
  [[dont_unroll]] for (int texel = split_index(); texel < TILE_S * TILE_P; texel += PARTS) {
    ivec4 p = first + ivec4(texel % TILE_P, 0, texel / TILE_P, 0);
    if (is_stored(p.x, first.x) && p.z < slices(y_shape.z) && p.w < y_shape.w)
      store_result(p, activate(with_residual(
                          finished(reduced_sum(texel), p.z, padded_slices * taps, padded_slices, grid_width), p)));
  }
#else
  [[dont_unroll]] for (int s = 0; s < TILE_S; ++s)
    if (first.z + s < slices(y_shape.z))
      [[unroll]] for (int i = 0; i < TILE_P; ++i) {
        ivec4 p = first + ivec4(i, 0, s, 0);
        if (is_stored(p.x, first.x))
          store_result(p, activate(with_residual(
                              finished(bare_sum_of(s, i), p.z, padded_slices * taps, padded_slices, grid_width), p)));
      }
#endif
}
