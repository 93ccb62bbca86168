// Included by shaders that test for NaN or compute with infinities. A driver's compiler may assume that
// neither occurs, unless the entry point declares SignedZeroInfNanPreserve (Vulkan spec, "Precision and
// Operation of SPIR-V Instructions"); it is declared on all devices that have it. The tests look at bits, so
// that they hold on the others, too.
#ifndef INF_NAN_GLSL
#define INF_NAN_GLSL
#ifdef INF_NAN_PRESERVE
#extension GL_EXT_spirv_intrinsics : require
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);
#endif
#define QUIET_NAN uintBitsToFloat(0x7fc00000u)
// Returns v where a function is defined, and NaN elsewhere: GLSL leaves it undefined, and SwiftShader's log(-1) is log(1).
vec4 nan_where(bvec4 outside, vec4 v) { return mix(v, vec4(QUIET_NAN), outside); }
// Returns the logarithm of x: -infinity for zero, which GLSL leaves undefined (SwiftShader returns -88), and NaN for negative
// numbers and NaN.
vec4 logarithm(vec4 x) {
  vec4 y = mix(log(x), vec4(uintBitsToFloat(0xff800000u)), equal(x, vec4(0)));
  return nan_where(not(greaterThanEqual(x, vec4(0))), y);
}
bool is_nan(float v) { return (floatBitsToInt(v) & 0x7fffffff) > 0x7f800000; }
bvec2 is_nan(vec2 v) { return greaterThan(floatBitsToInt(v) & 0x7fffffff, ivec2(0x7f800000)); }
bvec4 is_nan(vec4 v) { return greaterThan(floatBitsToInt(v) & 0x7fffffff, ivec4(0x7f800000)); }
bool is_inf(float v) { return (floatBitsToInt(v) & 0x7fffffff) == 0x7f800000; }
bvec4 is_inf(vec4 v) { return equal(floatBitsToInt(v) & 0x7fffffff, ivec4(0x7f800000)); }
#endif
