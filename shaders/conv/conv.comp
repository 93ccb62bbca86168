// Convolution of any kernel size, stride, dilation, padding and group count.
//
// A block of output slices reads a window of input slices, which starts with the first slice of the block's
// groups. Channels of other groups in the window have zero weights. If groups are not whole slices, windows
// differ in width (UNEVEN_WINDOWS).
//
// AHEAD: the texels of x of AHEAD slices are loaded together, before they are multiplied.
//
// RECOMPUTE_POSITIONS: the tile's position is computed again after the loop, so that no registers hold it in
// the loop.
//
// POINTWISE_SLICES: the first POINTWISE_SLICES output slices, which are whole tiles, multiply only the middle
// tap of the window.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef BROADCAST
#extension GL_KHR_shader_subgroup_ballot : require
#elif defined(SUBGROUP)
#extension GL_KHR_shader_subgroup_basic : require
#endif
#ifdef HALF_PRODUCTS
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#ifdef DOT_PRODUCTS
#extension GL_EXT_spirv_intrinsics : require
#endif

#include "conv_window.glsl"

int first_input, image;  // input slice and image that this invocation multiplies
ivec2 range;             // (first, one after the last) input slice that this invocation multiplies, counted from first_input
int taps, grid_width;
#ifdef POINTWISE_SLICES
bool is_pointwise;
#endif

bool in_range(int k) {
#if !defined(PARTS) && !defined(UNEVEN_WINDOWS)
  // Computes the end instead of keeping it in a register, of which the loop has none to spare on Adreno 740.
  if (folds_x) return k < window_slices && first_input + k < slices(x_shape.z);
#endif
  return k < range.y;
}

// Adds the products of a row of taps with row `iy` of x. `row`: the row of the first tap in the grid of weights.
#if defined(BROADCAST)
void add_row(int iy, int origin_x, int row) {
  row_inside = iy >= 0 && iy < x_shape.y;
  iy = clamp(iy, 0, x_shape.y - 1);
  for (int kx = 0; kx < kernel_size.x; ++kx) {
    locate_columns(origin_x + kx * dilation.x, stride.x);
    ADDRESS_TYPE(x) address = address_of_x(ivec4(0, iy, first_input + range.x, image));
    for (int k = range.x; k < range.y; k += STEP) {
      load_shared_weights(k, row + kx, taps, grid_width);
#define SLICE_OF_STEP(step)                                                                               \
  if (k + step < range.y) {                                                                               \
    vec4 x[TILE_P];                                                                                       \
    [[unroll]] for (int i = 0; i < TILE_P; ++i) x[i] = load_column(i, add_columns_x(address, column[i])); \
    next_slice_of_x(address);                                                                             \
    if (begins_column_of_x(first_input + k + step + 1)) next_column_of_x(address);                        \
    ADD_SHARED_PRODUCTS(x, step)                                                                          \
  }
      FOR_SLICES_OF_STEP(SLICE_OF_STEP)
    }
  }
}
#elif KERNEL_X > 0
#ifdef RUN_AT_ONCE
// A zero that compilers do not recognise as one, so that the first product of a run is a multiply-add, too.
float16_t half_zero = float16_t(min(x_shape.x, 0));

// Adds the products of slice k, one run (fp16 partial sum) after another, so that no run occupies registers during a load.
void add_runs(FACTORS columns[COLUMNS], int k, int row) {
  [[unroll]] for (int s = 0; s < TILE_S; ++s) {
    f16vec4 w[4 * KERNEL_X], run[TILE_P];
    [[unroll]] for (int j = 0; j < 4 * KERNEL_X; ++j)
      w[j] = LOAD_W(4 * k + j % 4, row + j / 4 + s * taps, grid_width);
    [[unroll]] for (int i = 0; i < TILE_P; ++i) run[i] = f16vec4(half_zero);
    [[unroll]] for (int j = 0; j < 4 * KERNEL_X; ++j)
      [[unroll]] for (int i = 0; i < TILE_P; ++i) run[i] += columns[i * STRIDE_X + j / 4][j % 4] * w[j];
    [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] += vec4(run[i]);
  }
}
#endif

#ifdef POINTWISE_SLICES
// Adds the products of the middle tap of a row. `row`: its row in the grid of weights.
void add_middle(int iy, int origin_x, int row) {
  locate_columns(origin_x, 1);
  ColumnAddresses addresses = column_addresses(ivec4(0, iy, first_input + range.x, image), origin_x, 1);
  int k = range.x;
  EACH_COLUMN_OF(x, in_range(k)) {
    for (; in_range(k) && in_column_of_x(addresses.row, 1); ++k) {
      FACTORS columns[COLUMNS] = next_columns(addresses), x[TILE_P];
      [[unroll]] for (int i = 0; i < TILE_P; ++i) x[i] = columns[i * STRIDE_X + KERNEL_X / 2];
      add_products(x, 4 * k, row, taps, grid_width);
      end_run();
    }
    leave_column(addresses);
  }
}
#endif
void add_row(int iy, int origin_x, int row) {
  locate_columns(origin_x, 1);
  ColumnAddresses addresses = column_addresses(ivec4(0, iy, first_input + range.x, image), origin_x, 1);
  int k = range.x;
  EACH_COLUMN_OF(x, in_range(k)) {
    for (; in_range(k) && in_column_of_x(addresses.row, 1); ++k) {
      FACTORS columns[COLUMNS] = next_columns(addresses);
#ifdef RUN_AT_ONCE
      add_runs(columns, k, row);
#else
      [[unroll]] for (int kx = 0; kx < KERNEL_X; ++kx) {
        FACTORS x[TILE_P];
        [[unroll]] for (int i = 0; i < TILE_P; ++i) x[i] = columns[i * STRIDE_X + kx];
        add_products(x, 4 * k, row + kx, taps, grid_width);
      }
      end_run();
#endif
    }
    leave_column(addresses);
  }
}
#else
void add_row(int iy, int origin_x, int row) {
  for (int kx = 0; kx < kernel_size.x; ++kx) {
#ifdef POINTWISE_SLICES
    if (is_pointwise && kx != kernel_size.x / 2) continue;
#endif
    int first_x = origin_x + kx * dilation.x;
    locate_columns(first_x, stride.x);
    ColumnAddresses addresses = column_addresses(ivec4(0, iy, first_input + range.x, image), first_x, stride.x);
#if CHANNELS < 4
    // There is a single slice; a loop over it would be expensive on CPUs, because sums are carried through
    // it.
    start_block(0, row + kx, taps);
    add_products(next_columns(addresses), 0, row + kx, taps, grid_width);
    end_run();
#else
    FOR_EACH_RUN(run, range.x, range.y)
      int k = run;
      start_block(k, row + kx, taps);
      EACH_COLUMN_OF(x, k < run_end) {
#ifdef AHEAD
        for (; k + AHEAD <= run_end && in_column_of_x(addresses.row, AHEAD); k += AHEAD) {
          FACTORS x[AHEAD][TILE_P];
          [[unroll]] for (int ahead = 0; ahead < AHEAD; ++ahead) x[ahead] = next_columns(addresses);
          [[unroll]] for (int ahead = 0; ahead < AHEAD; ++ahead)
            add_products(x[ahead], 4 * (k + ahead), row + kx, taps, grid_width);
        }
#endif
        for (; k < run_end && in_column_of_x(addresses.row, 1); ++k)
          add_products(next_columns(addresses), 4 * k, row + kx, taps, grid_width);
        leave_column(addresses);
      }
    END_EACH_RUN
#endif
  }
}
#endif

void locate_input_slices(int first_output) {
  first_input = (divide(4 * first_output, group_outputs).x * group_inputs) >> 2;
#ifdef UNEVEN_WINDOWS
  int last_group = divide(min(4 * (first_output + TILE_S), y_shape.z) - 1, group_outputs).x;
  int window = slices((last_group + 1) * group_inputs) - first_input;
#else
  int window = min(window_slices, slices(x_shape.z) - first_input);
#endif
#ifdef PARTS
  range = slices_of_split(window);
#else
  range = ivec2(0, window);
#endif
}

void compute_results() {
  ivec4 first = first_texel();
#if defined(BROADCAST)
  // All lanes of a subgroup continue; unneeded results are not stored.
  if (first.z >= slices(y_shape.z)) return;
  bool wanted = first.w < y_shape.w;
#elif defined(PARTS)
  const bool wanted = true;  // store_tile() omits unneeded results, after all invocations have shared their sums
#else
  const bool wanted = true;
  if (first.w >= y_shape.w) return;
#endif
  taps = kernel_size.x * kernel_size.y;
  grid_width = 4 / TEXEL_CHANNELS * window_slices;
  int padded_slices = TILE_S * blocks_of_slices();
  start_with_bias(first.z, padded_slices * taps, padded_slices, grid_width);
#ifdef UNIFORM_SLICES
  image = int(gl_WorkGroupID.z);  // compilers do not recognise that first.w is uniform
#else
  image = min(first.w, y_shape.w - 1);
#endif
  locate_input_slices(first.z);

#ifdef POINTWISE_SLICES
  is_pointwise = first.z < POINTWISE_SLICES;
#endif
  ivec2 origin = first.xy * stride - padding;
#if defined(POINTWISE_SLICES) && KERNEL_X > 0
  if (is_pointwise) {
    int middle = kernel_size.y / 2, iy = origin.y + middle * dilation.y;
    if (iy >= 0 && iy < x_shape.y) add_middle(iy, origin.x, first.z * taps + middle * kernel_size.x + KERNEL_X / 2);
  } else
#endif
  for (int ky = 0; ky < kernel_size.y; ++ky) {
    int iy = origin.y + ky * dilation.y;
#if defined(DOT_PRODUCTS) && !defined(UNPADDED)
    row_inside = iy >= 0 && iy < x_shape.y;
    iy = clamp(iy, 0, x_shape.y - 1);
#elif !defined(BROADCAST)
    if (iy < 0 || iy >= x_shape.y) continue;
#endif
#if defined(POINTWISE_SLICES) && KERNEL_X == 0
    if (is_pointwise && ky != kernel_size.y / 2) continue;
#endif
    add_row(iy, origin.x, first.z * taps + ky * kernel_size.x);
  }
  complete_sums();
#ifdef RECOMPUTE_POSITIONS
  // The argument is zero, which compilers cannot recognise.
  first = first_texel(min(x_shape.x, 0));
#endif
  if (wanted) store_tile(first, taps, grid_width);
}

#include "range_main.glsl"
