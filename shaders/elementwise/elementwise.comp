// Several elementwise functions of linear tensors, whose results have equally many elements: TENSORS declares the tensors, and
// BODY computes four elements of each result (runtime/kernels/framework/fuse_elementwise.hpp writes both).
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#include "elementwise.h"
#include "tensor.glsl"

// BODY sets activation_constants, and calls the functions of activation.glsl by their names.
#define activation_params vec4(0)
#define ACTIVATION none
#include "activation.glsl"
#include "binary.glsl"
#include "unary.glsl"

TENSORS

#ifdef ROUND_TO_HALVES
// In halves each result is rounded, and what represents minus infinity stays finite, as in kernels of one function.
void note_lowest(vec4 a, vec4 b) {
  vec4 lowest = vec4(LOWEST_HALF);
  has_lowest_operand = notEqual(ivec4(equal(a, lowest)) + ivec4(equal(b, lowest)), ivec4(0));
}
#define rounded_result(v) nearest_half4(v)
#else
#define note_lowest(a, b)
#define rounded_result(v) v
#endif

// Compilers may simplify two functions together: a * (b * x) becomes (a * b) * x where a and b are constants, and a product that
// only one sum reads is part of a fused multiply-add. They do not where the bits of a value depend on a number that they do not
// know. It is zero; `number`, that of the function, keeps them from computing parts of two functions once.
vec4 opaque(vec4 v, int number) { return uintBitsToFloat(floatBitsToUint(v) | uint(max(-count - number, 0))); }

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  BODY
}
