// Shared code of the matrix product kernels on linear tensors: y = activation(alpha * A B + beta * C) for each matrix of a
// batch. MATRICES: one product, where B and y are channels4.

#include "matmul.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"
#ifdef FIXED_PAIR
#include "fixed_point.glsl"
#endif

#ifdef STRIDED
LINEAR_IN(a)
LINEAR_IN(b)
#else
QUADS_IN(a)
#ifdef MATRICES
#define b_shape ivec4(1, 1, y_columns, depth)
TENSOR_IN(b)
#else
QUADS_IN(b)
#endif
#endif
#ifdef MATRICES
#define y_shape ivec4(1, 1, y_columns, y_rows)
TENSOR_OUT(y)
#elif defined(Y_SCALARS)
SCALARS_OUT(y)
#else
LINEAR_OUT(y)
#define LINEAR_RESULTS
#endif
#include "epilogue.glsl"
#if HAS_C
LINEAR_IN(c)
float load_addend(int row, int column) { return beta * load_c(row * c_row_stride + column * c_column_stride); }
#else
float load_addend(int row, int column) { return 0.0; }
#endif

// Returns the results of four sums. With FIXED_PAIR they are sums of products of integers (fixed_point.glsl).
vec4 finish_sums(vec4 sums, vec4 addend) {
#ifdef FIXED_PAIR
  return activate(vec4(fixed_times(ivec4(roundEven(sums)), fixed_y, 16)) * activation_constants.w);
#else
  return activate(alpha * sums + addend);
#endif
}

// Returns the offsets of A and B of matrix `index` of the batch.
ivec2 matrix_offsets(int index) {
  ivec2 offsets = ivec2(0);
  for (int axis = 3; axis >= 0; --axis) {
    ivec2 at = divide(index, batch[axis]);
    offsets += at.y * ivec2(a_batch_strides[axis], b_batch_strides[axis]);
    index = at.x;
  }
  return offsets;
}

// Finishes and stores four sums of a row of matrix `matrix`; a row of y has `quads` groups of four. Y_SCALARS: rows of y are not
// whole groups, and elements are stored one by one.
void store_sums(int matrix, int row, int quad, int quads, vec4 v) {
  vec4 addend;
  [[unroll]] for (int j = 0; j < 4; ++j) addend[j] = load_addend(row, min(4 * quad + j, y_columns - 1));
  v = finish_sums(v, addend);
#ifdef MATRICES
  store_result(ivec4(0, 0, quad, row), v);
#elif defined(Y_SCALARS)
  int first = (matrix * y_rows + row) * y_columns + 4 * quad;
  for (int j = 0; j < 4; ++j)
    if (4 * quad + j < y_columns) set_y(first + j, v[j]);
#else
  store_result((matrix * y_rows + row) * quads + quad, v);
#endif
}
