// Split-K: PARTS invocations of a workgroup share the sums of a tile; each adds the products of some input
// slices. The workgroup has PARTS rows of WORKGROUP_X invocations, with one tile in each column:
//
//            tile 0   tile 1   ...
//   split 0     o        o       o    input slices 0 ... n - 1, and the bias
//   split 1     o        o       o    input slices n ... 2 n - 1
//
// The partial sums are reduced in shared memory; each texel is reduced by one of the PARTS invocations. All
// invocations must reach share_partial_sums().
//
// With SUBGROUP a row is whole subgroups, so that the split is uniform in each and weights can be loaded as scalars.

#ifdef SUBGROUP
const int SUBGROUPS_OF_ROW = WORKGROUP_X / SUBGROUP;
int split_index() { return int(gl_SubgroupID) / SUBGROUPS_OF_ROW; }
int lane_of_row() { return int(gl_SubgroupID) % SUBGROUPS_OF_ROW * SUBGROUP + int(gl_SubgroupInvocationID); }
#else
int split_index() { return int(gl_LocalInvocationID.y); }
int lane_of_row() { return int(gl_LocalInvocationID.x); }
#endif

// [texel of the tile][split][lane]
shared SUMS partial_sums[TILE_S * TILE_P * PARTS * WORKGROUP_X];

// Returns (first, one after the last) of the input slices of this invocation's split; only one split has the bias.
ivec2 slices_of_split(int input_slices) {
  int split = split_index();
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] = split == 0 ? sum[s][i] : SUMS(0);
  int split_slices = (input_slices + PARTS - 1) / PARTS;
#ifdef HALF_PRODUCTS
  split_slices = (split_slices + HALF_PRODUCTS - 1) / HALF_PRODUCTS * HALF_PRODUCTS;  // whole runs
#endif
  return min(ivec2(split, split + 1) * split_slices, input_slices);
}

void share_partial_sums() {
  int invocation = split_index() * WORKGROUP_X + lane_of_row();
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i)
      partial_sums[(s * TILE_P + i) * PARTS * WORKGROUP_X + invocation] = sum[s][i];
  barrier();
}

// Returns the sum of all splits for a texel of the tile. Each split reduces every PARTS-th texel, beginning
// with split_index().
vec4 reduced_sum(int texel) {
  SUMS whole = SUMS(0);
  for (int split = 0; split < PARTS; ++split)
    whole += partial_sums[(texel * PARTS + split) * WORKGROUP_X + lane_of_row()];
  return scaled(texel / TILE_P, whole);
}
