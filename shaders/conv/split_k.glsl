// Split-K: PARTS invocations of a workgroup share the sums of a tile; each adds the products of some input
// slices. The workgroup has PARTS rows of WORKGROUP_X invocations, with one tile in each column:
//
//            tile 0   tile 1   ...
//   part 0     o        o       o    input slices 0 ... n - 1, and the bias
//   part 1     o        o       o    input slices n ... 2 n - 1
//
// The partial sums are reduced in shared memory; each texel is reduced by one of the PARTS invocations. All
// invocations must reach share_sums().
//
// With SUBGROUP a row is whole subgroups, so that the part is uniform in each and weights can be loaded as scalars.

#ifdef SUBGROUP
const int SUBGROUPS_OF_ROW = WORKGROUP_X / SUBGROUP;
int part_of_sums() { return int(gl_SubgroupID) / SUBGROUPS_OF_ROW; }
int lane_of_row() { return int(gl_SubgroupID) % SUBGROUPS_OF_ROW * SUBGROUP + int(gl_SubgroupInvocationID); }
#else
int part_of_sums() { return int(gl_LocalInvocationID.y); }
int lane_of_row() { return int(gl_LocalInvocationID.x); }
#endif

// [texel of the tile][part][lane]
shared vec4 partial_sums[TILE_S * TILE_P * PARTS * WORKGROUP_X];

// Returns (first, one after the last) of the input slices of this invocation's part; only one part has the bias.
ivec2 slices_of_part(int input_slices) {
  int part = part_of_sums();
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i) sum[s][i] = part == 0 ? sum[s][i] : vec4(0);
  int part_slices = (input_slices + PARTS - 1) / PARTS;
#ifdef HALF_PRODUCTS
  part_slices = (part_slices + HALF_PRODUCTS - 1) / HALF_PRODUCTS * HALF_PRODUCTS;  // whole runs
#endif
  return min(ivec2(part, part + 1) * part_slices, input_slices);
}

void share_sums() {
  int place = part_of_sums() * WORKGROUP_X + lane_of_row();
  [[unroll]] for (int s = 0; s < TILE_S; ++s)
    [[unroll]] for (int i = 0; i < TILE_P; ++i)
      partial_sums[(s * TILE_P + i) * PARTS * WORKGROUP_X + place] = sum[s][i];
  barrier();
}

// Returns the sum of all parts for a texel of the tile. Each part reduces every PARTS-th texel, beginning
// with part_of_sums().
vec4 sum_of_parts(int texel) {
  vec4 whole = vec4(0);
  for (int part = 0; part < PARTS; ++part)
    whole += partial_sums[(texel * PARTS + part) * WORKGROUP_X + lane_of_row()];
  return scaled(texel / TILE_P, whole);
}
