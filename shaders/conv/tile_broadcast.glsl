// Weights that a subgroup loads together, with BROADCAST (conv_tile.glsl). The lanes of a subgroup compute the same
// output channels of different pixels. Each lane loads some of the weights and broadcasts them to the others. All
// lanes must reach the broadcast.

// SLICE_WEIGHTS: weight texels of an input slice. STEP: input slices whose weights a subgroup loads at once.
// LOADS: weight texels of a step that each lane loads.
#define SLICE_WEIGHTS (4 * TILE_S)
#if SUBGROUP > SLICE_WEIGHTS
#define STEP (SUBGROUP / SLICE_WEIGHTS)
#else
#define STEP 1
#endif
#define LOADS (STEP * SLICE_WEIGHTS / SUBGROUP)

vec4 lane_weights[LOADS];

// Loads this lane's share of the weights of input slices k ... k + STEP - 1; rows as in add_products().
void load_shared_weights(int k, int row, int row_step, int grid_width) {
  [[unroll]] for (int j = 0; j < LOADS; ++j) {
    int texel = j * SUBGROUP + int(gl_SubgroupInvocationID);
    int column = 4 * (k + texel / SLICE_WEIGHTS) + (texel & 3);
    lane_weights[j] = load_w(min(column, grid_width - 1), row + (texel % SLICE_WEIGHTS >> 2) * row_step, grid_width);
  }
}

void add_texel(vec4 x[TILE_P], const int s, const int c, vec4 w) {
  [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] += x[i][c] * w;
}

// subgroupBroadcast() needs a constant lane, which a loop counter is not, so the preprocessor unrolls the
// loops over the slices of a step, the output slices and the channels.
#define ADD_TEXEL_(x, k, s, c)                                                                     \
  add_texel(x, s, c, subgroupBroadcast(lane_weights[((k) * SLICE_WEIGHTS + 4 * s + c) / SUBGROUP], \
                                       ((k) * SLICE_WEIGHTS + 4 * s + c) % SUBGROUP));
#define ADD_SLICE_(x, k, s) ADD_TEXEL_(x, k, s, 0) ADD_TEXEL_(x, k, s, 1) ADD_TEXEL_(x, k, s, 2) ADD_TEXEL_(x, k, s, 3)
// Adds the products of x[TILE_P], the texels of input slice k of the step.
#if TILE_S == 1
#define ADD_SHARED_PRODUCTS(x, k) ADD_SLICE_(x, k, 0)
#elif TILE_S == 2
#define ADD_SHARED_PRODUCTS(x, k) ADD_SLICE_(x, k, 0) ADD_SLICE_(x, k, 1)
#else
#define ADD_SHARED_PRODUCTS(x, k) \
  ADD_SLICE_(x, k, 0) ADD_SLICE_(x, k, 1) ADD_SLICE_(x, k, 2) ADD_SLICE_(x, k, 3)
#endif

// body(k) for each slice of a step.
#define SLICES_2_(body, k) body(k) body(k + 1)
#define SLICES_4_(body, k) SLICES_2_(body, k) SLICES_2_(body, k + 2)
#define SLICES_8_(body, k) SLICES_4_(body, k) SLICES_4_(body, k + 4)
#if STEP == 1
#define FOR_SLICES_OF_STEP(body) body(0)
#elif STEP == 2
#define FOR_SLICES_OF_STEP(body) SLICES_2_(body, 0)
#elif STEP == 4
#define FOR_SLICES_OF_STEP(body) SLICES_4_(body, 0)
#elif STEP == 8
#define FOR_SLICES_OF_STEP(body) SLICES_8_(body, 0)
#else
#define FOR_SLICES_OF_STEP(body) SLICES_8_(body, 0) SLICES_8_(body, 8)
#endif
