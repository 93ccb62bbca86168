// With NORM a workgroup computes all slices of its pixels, and normalises the channels of each pixel, as norm_rows.comp does,
// before it stores them in y. NORM is the number of tiles of pixels of a workgroup:
//
//   lane     0   1   ...  NORM - 1    slices 0 ... TILE_S - 1 of each tile of pixels
//   lane  NORM   ...  2 * NORM - 1    the next TILE_S slices
//   ...
//
// The results of the tiles are put into shared memory. Then ROW_LANES invocations share each pixel.
//
// WITH_LAYER: the pixels are also stored as they are before, in `layer`. MASKED: the last slice has unused channels.
// UNCENTRED: uses a mean of 0. ACTIVATE_LAST: the activation follows the normalisation instead of preceding it.
// NORM_EPSILON: the bits of the epsilon.
#ifdef NORM

TEXELS_IN(factors)  // row 0: scales, row 1: biases
#ifdef WITH_LAYER
#define layer_shape y_shape
TENSOR_OUT(layer)
#endif

const int INVOCATIONS = WORKGROUP_X * WORKGROUP_Y, ROW_TEXELS = WORKGROUP_X / NORM * TILE_S;
const int ROWS = TILE_P * NORM, ROW_LANES = INVOCATIONS / ROWS;
shared vec4 row_texels[ROWS * ROW_TEXELS];
shared float lane_sums[INVOCATIONS];

int workgroup_of_pixels() { return int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x); }

// Returns (block of output slices, block of pixels) of a lane.
ivec2 block_of_lane(int lane) { return ivec2(lane / NORM, workgroup_of_pixels() * NORM + lane % NORM); }

#ifdef ACTIVATE_LAST
#define activate_layer(v) (v)
#define activate_normalised activate
#else
#define activate_layer activate
#define activate_normalised(v) (v)
#endif

// Takes a result of the layer. `pixel`: its index in the tile of the lane. `p`: its position in y.
void put_in_row(int lane, int pixel, ivec4 p, vec4 v) {
#ifdef WITH_LAYER
  store_layer(p, v);
#endif
  row_texels[(lane % NORM * TILE_P + pixel) * ROW_TEXELS + p.z] = keep_channels(v, y_shape.z - 4 * p.z);
}

// Returns the sum of the invocations that share a row.
float sum_in_row(int row, vec4 v) {
  lane_sums[gl_LocalInvocationIndex] = dot(v, vec4(1));
  barrier();
  float all = 0.0;
  for (int lane = 0; lane < ROW_LANES; ++lane) all += lane_sums[row * ROW_LANES + lane];
  barrier();
  return all;
}

// The row of this invocation: (row of the workgroup, first texel). Invocations after those of the last row repeat it.
ivec2 row_of_invocation() {
  int invocation = int(gl_LocalInvocationIndex);
  return ivec2(min(invocation / ROW_LANES, ROWS - 1), invocation % ROW_LANES);
}
bool has_row() { return gl_LocalInvocationIndex < ROWS * ROW_LANES; }

// Normalises the rows. Returns (mean, 1 / deviation) of the row of this invocation. All invocations must call it.
vec2 statistics_of(ivec2 row) {
  int length = y_shape.z, texels = slices(length), begin = row.x * ROW_TEXELS;
  barrier();
  float mean = 0.0;
#ifndef UNCENTRED
  vec4 values = vec4(0);
  for (int k = row.y; k < texels; k += ROW_LANES) values += row_texels[begin + k];
  mean = sum_in_row(row.x, values) / float(length);
#endif
  // A second pass for the variance: the mean of squares less the square of the mean would cancel.
  vec4 squares = vec4(0);
  for (int k = row.y; k < texels; k += ROW_LANES) {
    vec4 d = row_texels[begin + k] - mean;
#ifdef MASKED
    d = keep_channels(d, length - 4 * k);
#endif
    squares += d * d;
  }
  float variance = sum_in_row(row.x, squares) / float(length);
  return vec2(mean, 1.0 / sqrt(variance + uintBitsToFloat(NORM_EPSILON)));
}

// Stores the row of this invocation, a pixel at p in y.
void store_row(ivec2 row, vec2 statistics, ivec4 p) {
  int texels = slices(y_shape.z);
  for (int k = row.y; k < texels; k += ROW_LANES) {
    vec4 v = (row_texels[row.x * ROW_TEXELS + k] - statistics.x) * (statistics.y * load_factors(k, 0, texels));
    store_result(p + ivec4(0, 0, k, 0), activate_normalised(v + load_factors(k, 1, texels)));
  }
}

#endif
