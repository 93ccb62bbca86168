// Products of cooperative matrices, whose elements are distributed over a subgroup: of halves with fp32 accumulators, or, with
// MATRIX_BYTES, of signed bytes with 32-bit integers. Defines one set of names for GL_KHR_cooperative_matrix and, with
// MATRIX_NV, GL_NV_cooperative_matrix.
//
//   MATRIX_A, MATRIX_B, MATRIX_C        of MATRIX_M x MATRIX_K, MATRIX_K x MATRIX_N factors; MATRIX_M x MATRIX_N sums
//   SUM, SUMS                           the type of a sum, and of four
//   VECTOR, GROUP                       the elements of the arrays that factors are loaded from, and their number of factors
//   LOAD_ROWS, STORE_ROWS(matrix, array, first, stride)
//                                       load and store rows of the matrix; positions count elements of the array
//   LOAD_COLUMNS(matrix, array, first, stride)
//                                       loads columns of the matrix
//   MULTIPLY(a, b, c)                   a * b + c
// An #extension must precede all code, so include this file first.
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#ifdef MATRIX_BYTES
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#define SUM int
#define SUMS ivec4
#if MATRIX_K % 16 == 0
#define VECTOR uvec4
#define GROUP 16
#else
#define VECTOR uvec2
#define GROUP 8
#endif
#else
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#define SUM float
#define SUMS vec4
#define VECTOR uvec4
#define GROUP 8
#endif

#ifdef MATRIX_NV
#extension GL_NV_cooperative_matrix : require
#ifdef MATRIX_BYTES
#extension GL_NV_integer_cooperative_matrix : require
#define MATRIX_OF_(rows, columns) icoopmatNV<8, gl_ScopeSubgroup, rows, columns>
#define MATRIX_C icoopmatNV<32, gl_ScopeSubgroup, MATRIX_M, MATRIX_N>
#else
#define MATRIX_OF_(rows, columns) fcoopmatNV<16, gl_ScopeSubgroup, rows, columns>
#define MATRIX_C fcoopmatNV<32, gl_ScopeSubgroup, MATRIX_M, MATRIX_N>
#endif
#define MATRIX_A MATRIX_OF_(MATRIX_M, MATRIX_K)
#define MATRIX_B MATRIX_OF_(MATRIX_K, MATRIX_N)
#define LOAD_ROWS(matrix, array, first, stride) coopMatLoadNV(matrix, array, first, stride, false)
#define LOAD_COLUMNS(matrix, array, first, stride) coopMatLoadNV(matrix, array, first, stride, true)
#define STORE_ROWS(matrix, array, first, stride) coopMatStoreNV(matrix, array, first, stride, false)
#define MULTIPLY(a, b, c) coopMatMulAddNV(a, b, c)
#else
#extension GL_KHR_cooperative_matrix : require
#ifdef MATRIX_BYTES
#define FACTOR_ int8_t
#else
#define FACTOR_ float16_t
#endif
#define MATRIX_A coopmat<FACTOR_, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA>
#define MATRIX_B coopmat<FACTOR_, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB>
#define MATRIX_C coopmat<SUM, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>
#define LOAD_ROWS(matrix, array, first, stride) \
  coopMatLoad(matrix, array, first, stride, gl_CooperativeMatrixLayoutRowMajor)
#define LOAD_COLUMNS(matrix, array, first, stride) \
  coopMatLoad(matrix, array, first, stride, gl_CooperativeMatrixLayoutColumnMajor)
#define STORE_ROWS(matrix, array, first, stride) \
  coopMatStore(matrix, array, first, stride, gl_CooperativeMatrixLayoutRowMajor)
#define MULTIPLY(a, b, c) coopMatMulAdd(a, b, c)
#endif
