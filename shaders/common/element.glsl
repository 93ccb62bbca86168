// The element type of kernels that compute alike for floats and, with the macro INTEGER, for 32-bit integers.
#ifdef INTEGER
#define SCALAR int
#define VECTOR ivec4
#else
#define SCALAR float
#define VECTOR vec4
#endif

// Sums and products. Those of integers wrap around. They are computed unsigned, because compilers behind GLSL's may assume that
// signed integers do not overflow (Metal's).
float plus(float a, float b) { return a + b; }
vec4 plus(vec4 a, vec4 b) { return a + b; }
int plus(int a, int b) { return int(uint(a) + uint(b)); }
ivec4 plus(ivec4 a, ivec4 b) { return ivec4(uvec4(a) + uvec4(b)); }
float times(float a, float b) { return a * b; }
int times(int a, int b) { return int(uint(a) * uint(b)); }
ivec4 times(int a, ivec4 b) { return ivec4(uint(a) * uvec4(b)); }
