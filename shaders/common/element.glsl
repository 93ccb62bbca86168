// The element type of kernels that only move elements: floats, or with the macro INTEGER 32-bit integers.
#ifdef INTEGER
#define SCALAR int
#define VECTOR ivec4
#else
#define SCALAR float
#define VECTOR vec4
#endif
