// Shared code of the matrix product kernels on linear tensors: y = activation(alpha * A B + beta * C) for each matrix of a
// batch.

layout(push_constant) uniform Params {
  vec4 activation_params;
  ivec4 size;  // M, N, K, count of matrices
  ivec4 batch;  // the batch dimensions, innermost last
  ivec4 a_batch_strides, b_batch_strides;  // in elements, or in texels where rows are made of them; 0: repeated
  ivec2 c_strides;  // of a row, of a column
  float alpha, beta;
#ifdef STRIDED
  ivec2 a_strides;  // of a row, of a column, so that transposing is exchanging them
  ivec2 b_strides;
#endif
};

#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

#ifdef STRIDED
LINEAR_IN(0, a)
LINEAR_IN(1, b)
#else
QUADS_IN(0, a)
QUADS_IN(1, b)
#endif
#if HAS_C
LINEAR_IN(2, c)
LINEAR_OUT(3, y)
float load_addend(int row, int column) { return beta * load_c(row * c_strides.x + column * c_strides.y); }
#else
LINEAR_OUT(2, y)
float load_addend(int row, int column) { return 0.0; }
#endif

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

// Finishes and stores four sums of a row of matrix `matrix`; a row of y has `quads` groups of four.
void store_sums(int matrix, int row, int quad, int quads, vec4 v) {
  vec4 addend;
  [[unroll]] for (int j = 0; j < 4; ++j) addend[j] = load_addend(row, min(4 * quad + j, size.y - 1));
  store_y((matrix * size.x + row) * quads + quad, activate(alpha * v + addend));
}
