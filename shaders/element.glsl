// Kernels that only move elements work on floats and, with the preamble macro INTEGER, on 32-bit integers.
#ifdef INTEGER
#define SCALAR int
#define VECTOR ivec4
#else
#define SCALAR float
#define VECTOR vec4
#endif
