// Products of cooperative matrices, whose elements are distributed over a subgroup: fp16 factors, fp32
// accumulators. Defines one set of names for GL_KHR_cooperative_matrix and, with MATRIX_NV,
// GL_NV_cooperative_matrix.
//
//   MATRIX_A, MATRIX_B, MATRIX_C        of MATRIX_M x MATRIX_K, MATRIX_K x MATRIX_N halves; MATRIX_M x MATRIX_N floats
//   LOAD_ROWS, STORE_ROWS(matrix, array, first, stride)
//                                       load and store rows of the matrix; positions count vectors of the array
//   LOAD_COLUMNS(matrix, array, first, stride)
//                                       loads columns of the matrix
//   MULTIPLY(a, b, c)                   a * b + c
// An #extension must precede all code, so include this file first.
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require

#ifdef MATRIX_NV
#extension GL_NV_cooperative_matrix : require
#define MATRIX_A fcoopmatNV<16, gl_ScopeSubgroup, MATRIX_M, MATRIX_K>
#define MATRIX_B fcoopmatNV<16, gl_ScopeSubgroup, MATRIX_K, MATRIX_N>
#define MATRIX_C fcoopmatNV<32, gl_ScopeSubgroup, MATRIX_M, MATRIX_N>
#define LOAD_ROWS(matrix, array, first, stride) coopMatLoadNV(matrix, array, first, stride, false)
#define LOAD_COLUMNS(matrix, array, first, stride) coopMatLoadNV(matrix, array, first, stride, true)
#define STORE_ROWS(matrix, array, first, stride) coopMatStoreNV(matrix, array, first, stride, false)
#define MULTIPLY(a, b, c) coopMatMulAddNV(a, b, c)
#else
#extension GL_KHR_cooperative_matrix : require
#define MATRIX_A coopmat<float16_t, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA>
#define MATRIX_B coopmat<float16_t, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB>
#define MATRIX_C coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>
#define LOAD_ROWS(matrix, array, first, stride) \
  coopMatLoad(matrix, array, first, stride, gl_CooperativeMatrixLayoutRowMajor)
#define LOAD_COLUMNS(matrix, array, first, stride) \
  coopMatLoad(matrix, array, first, stride, gl_CooperativeMatrixLayoutColumnMajor)
#define STORE_ROWS(matrix, array, first, stride) \
  coopMatStore(matrix, array, first, stride, gl_CooperativeMatrixLayoutRowMajor)
#define MULTIPLY(a, b, c) coopMatMulAdd(a, b, c)
#endif
