// FUNCTION (binary.glsl) of two tensors, then an activation. With LINEAR_LAYOUT all tensors are linear and are
// broadcast as in numpy; else all are channels4, and BROADCAST is defined if their shapes differ. With FIXED_PAIR the
// function is that of integers in fixed_point.glsl, and the activation rounds.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#ifdef LINEAR_LAYOUT
#include "binary_linear.h"
#else
#include "binary.h"
#endif

#include "tensor.glsl"
#include "texel.glsl"
#include "activation.glsl"
#include "binary.glsl"
#include "divide.glsl"

#ifdef FIXED_PAIR
#include "fixed_point.glsl"
vec4 combined(vec4 a, vec4 b) {
  ivec4 y = CAT(fixed_, FUNCTION)(whole_steps(a, fixed_a_step), whole_steps(b, fixed_b_step));
  return vec4(y) * activation_constants.w;
}
#else
#define combined FUNCTION
#endif

// Notes which elements have an operand that is the lowest half (FINITE_HALVES in tensor.glsl). It has no loop: compilers
// would keep one even where nothing reads its results.
void note_lowest(vec4 a, vec4 b) {
  vec4 lowest = vec4(LOWEST_HALF);
  has_lowest_operand = notEqual(ivec4(equal(a, lowest)) + ivec4(equal(b, lowest)), ivec4(0));
}

#ifdef LINEAR_LAYOUT

LINEAR_IN(a)
LINEAR_IN(b)
LINEAR_OUT(y)
#define LINEAR_RESULTS
#include "epilogue.glsl"

// Returns the offsets in a and in b of element i of y.
ivec2 offsets(int i) {
  ivec2 at = ivec2(0);
  for (int d = rank - 1; d > 0; --d) {
    ivec2 split = divide(i, dims[d]);
    at += split.y * ivec2(a_strides[d], b_strides[d]);
    i = split.x;
  }
  return at + i * ivec2(a_strides[0], b_strides[0]);
}

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  vec4 a, b;
  if (grouped != 0) {
    ivec2 at = offsets(4 * i4);
    a = a_strides[rank - 1] == 1 ? load4_a(at.x >> 2) : vec4(load_a(at.x));
    b = b_strides[rank - 1] == 1 ? load4_b(at.y >> 2) : vec4(load_b(at.y));
  } else {
    for (int j = 0; j < 4; ++j) {
      ivec2 at = offsets(min(4 * i4 + j, count - 1));
      a[j] = load_a(at.x);
      b[j] = load_b(at.y);
    }
  }
  note_lowest(a, b);
  store_result(i4, activate(combined(a, b)));
}

#else

TENSOR_IN(a)
TENSOR_IN(b)
TENSOR_OUT(y)
#include "epilogue.glsl"

#ifdef BROADCAST
ivec4 operand_position(ivec4 p, ivec4 shape) { return min(p, ivec4(shape.xy, slices(shape.z), shape.w) - 1); }
vec4 operand(vec4 v, ivec4 shape) { return shape.z == 1 ? v.xxxx : v; }
#else
ivec4 operand_position(ivec4 p, ivec4 shape) { return p; }
vec4 operand(vec4 v, ivec4 shape) { return v; }
#endif

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  vec4 a = operand(load_a(operand_position(p, a_shape)), a_shape);
  vec4 b = operand(load_b(operand_position(p, b_shape)), b_shape);
  note_lowest(a, b);
  store_result(p, activate(combined(a, b)));
}

#endif
