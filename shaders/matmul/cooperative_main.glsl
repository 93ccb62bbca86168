// The main function of a kernel that defines the functions listed in cooperative_block.glsl.
//
// With OFFSET_B the factors of B are less than the numbers that they stand for by offset_of_b(), which the kernel defines: each
// sum of a row of A times that number is added to the row's sums of products.

void store_to_shared() {
  int lane = int(gl_LocalInvocationIndex);
  [[unroll]] for (int i = 0; i < LOADS_A; ++i) {
    ivec2 at = place_a(i);
    if (lane + i * WORKGROUP_X < ROWS_A * GROUPS_A) a_rows[at.x * ROW_A + at.y] = next_a[i];
  }
  [[unroll]] for (int i = 0; i < LOADS_B; ++i) {
    ivec2 at = place_b(i);
    if (lane + i * WORKGROUP_X < ROWS_B * GROUPS_B) b_rows[at.x * ROW_B + at.y] = next_b[i];
  }
}

#ifdef A_COLUMNS
#define LOAD_A(a, row, k) LOAD_COLUMNS(a, a_rows, (k) * ROW_A + (row) / GROUP, ROW_A)
#else
#define LOAD_A(a, row, k) LOAD_ROWS(a, a_rows, (row) * ROW_A + (k) / GROUP, ROW_A)
#endif
#ifdef B_COLUMNS
#define LOAD_B(b, k, column) LOAD_COLUMNS(b, b_rows, (column) * ROW_B + (k) / GROUP, ROW_B)
#else
#define LOAD_B(b, k, column) LOAD_ROWS(b, b_rows, (k) * ROW_B + (column) / GROUP, ROW_B)
#endif

void main() {
  if (!start()) return;  // all invocations of the workgroup return

  const int SUBGROUPS = SUBGROUPS_M * SUBGROUPS_N;
  int subgroup = int(gl_SubgroupID) % SUBGROUPS, part = int(gl_SubgroupID) / SUBGROUPS;
  int row = subgroup % SUBGROUPS_M * (MATRIX_M * TILE_M), column = subgroup / SUBGROUPS_M * (MATRIX_N * TILE_N);
  MATRIX_C sums[TILE_M * TILE_N];
  [[unroll]] for (int i = 0; i < TILE_M * TILE_N; ++i) sums[i] = MATRIX_C(SUM(0));
#ifdef OFFSET_B
  MATRIX_C a_sums[TILE_M];
  [[unroll]] for (int i = 0; i < TILE_M; ++i) a_sums[i] = MATRIX_C(SUM(0));
  MATRIX_B ones = MATRIX_B(int8_t(1));
#endif

  bool more = fetch();
  while (more) {
    barrier();  // all have multiplied the previous step's operands
    store_to_shared();
    barrier();
    more = fetch();
    [[unroll]] for (int of_part = 0; of_part < STEP_K / PARTS; of_part += MATRIX_K) {
      int k = part * (STEP_K / PARTS) + of_part;
      MATRIX_A a[TILE_M];
      [[unroll]] for (int i = 0; i < TILE_M; ++i) LOAD_A(a[i], row + i * MATRIX_M, k);
#ifdef OFFSET_B
      [[unroll]] for (int i = 0; i < TILE_M; ++i) a_sums[i] = MULTIPLY(a[i], ones, a_sums[i]);
#endif
      [[unroll]] for (int j = 0; j < TILE_N; ++j) {
        MATRIX_B b;
        LOAD_B(b, k, column + j * MATRIX_N);
        [[unroll]] for (int i = 0; i < TILE_M; ++i) sums[i * TILE_N + j] = MULTIPLY(a[i], b, sums[i * TILE_N + j]);
      }
    }
  }

#ifdef OFFSET_B
  [[unroll]] for (int i = 0; i < TILE_M * TILE_N; ++i) sums[i] = sums[i] + a_sums[i / TILE_N] * offset_of_b();
#endif
  int first_c = subgroup * 4 * QUADS_C;
  const int PART_C = SUBGROUPS * 4 * QUADS_C;
  [[unroll]] for (int i = 0; i < TILE_M; ++i)
    [[unroll]] for (int j = 0; j < TILE_N; ++j) {
      barrier();  // all have read the previous matrix
      STORE_ROWS(sums[i * TILE_N + j], c_rows, first_c + part * PART_C, MATRIX_N);
      barrier();
      [[unroll]] for (int round = 0; round < ROUNDS_C; ++round) {
        int quad = part * SUBGROUP + int(gl_SubgroupInvocationID) + round * LANES_C;
        if (quad < QUADS_C) {
          ivec2 at = place(quad, MATRIX_M, MATRIX_N / 4);
          int c = first_c + at.x * MATRIX_N + 4 * at.y;
          SUMS sum = SUMS(0);
          [[unroll]] for (int p = 0; p < PARTS; ++p, c += PART_C)
            sum += SUMS(c_rows[c], c_rows[c + 1], c_rows[c + 2], c_rows[c + 3]);
          finish(row + i * MATRIX_M + at.x, (column + j * MATRIX_N) / 4 + at.y, sum);
        }
      }
    }
}
