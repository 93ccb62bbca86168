// Computes BLOCK_M x BLOCK_N sums in a workgroup with cooperative matrices (include cooperative.glsl first).
// Each of its SUBGROUPS_M x SUBGROUPS_N subgroups has TILE_M x TILE_N matrices. The sum index advances by
// STEP_K at a time through shared memory; the next step's operands are loaded while this step's are
// multiplied. Split-K: there are PARTS times as many subgroups, and each computes a part of the sums of a step.
// Steps are then long and few, which is faster because each waits for its loads.
//
// Rows of A and B in shared memory are rows of the operand, or with A_COLUMNS, B_COLUMNS its columns.
// Neighbouring invocations load and store neighbouring rows of the same columns, or with ALONG_ROWS
// neighbouring elements of a row: whichever is contiguous in memory.
//
// After including this file, a kernel defines these and includes cooperative_main.glsl:
//   bool start()                           returns false if the workgroup has no work
//   bool fetch()                           loads this invocation's operands of the next step, GROUP factors at place_a(i) and
//                                          place_b(i), into next_a[i] and next_b[i]; returns false after the last step, the
//                                          same in all invocations of a workgroup
//   void finish(int row, int quad, SUMS v) receives four sums of the block, which may be beyond the result

const int BLOCK_M = MATRIX_M * TILE_M * SUBGROUPS_M, BLOCK_N = MATRIX_N * TILE_N * SUBGROUPS_N;
#ifdef A_COLUMNS
const int ROWS_A = STEP_K, GROUPS_A = BLOCK_M / GROUP;
#else
const int ROWS_A = BLOCK_M, GROUPS_A = STEP_K / GROUP;
#endif
#ifdef B_COLUMNS
const int ROWS_B = BLOCK_N, GROUPS_B = STEP_K / GROUP;
#else
const int ROWS_B = STEP_K, GROUPS_B = BLOCK_N / GROUP;
#endif
// An unused vector between rows avoids bank conflicts.
const int ROW_A = GROUPS_A + 1, ROW_B = GROUPS_B + 1;
const int LOADS_A = (ROWS_A * GROUPS_A + WORKGROUP_X - 1) / WORKGROUP_X;
const int LOADS_B = (ROWS_B * GROUPS_B + WORKGROUP_X - 1) / WORKGROUP_X;
const int QUADS_C = MATRIX_M * MATRIX_N / 4, LANES_C = PARTS * SUBGROUP, ROUNDS_C = (QUADS_C + LANES_C - 1) / LANES_C;

shared VECTOR a_rows[ROWS_A * ROW_A];
shared VECTOR b_rows[ROWS_B * ROW_B];
shared SUM c_rows[PARTS * SUBGROUPS_M * SUBGROUPS_N * 4 * QUADS_C];

VECTOR next_a[LOADS_A], next_b[LOADS_B];

// Returns (row, column) of element i of rows x columns.
ivec2 place(int i, int rows, int columns) {
#ifdef ALONG_ROWS
  return ivec2(i / columns, i % columns);
#else
  return ivec2(i % rows, i / rows);
#endif
}
// Returns (row of shared memory, group of factors in it). Groups after the last are loaded but not
// stored.
ivec2 place_a(int i) {
  return place((int(gl_LocalInvocationIndex) + i * WORKGROUP_X) % (ROWS_A * GROUPS_A), ROWS_A, GROUPS_A);
}
ivec2 place_b(int i) {
  return place((int(gl_LocalInvocationIndex) + i * WORKGROUP_X) % (ROWS_B * GROUPS_B), ROWS_B, GROUPS_B);
}

