// store_result(at, v) stores a result in y. With EPILOGUE it first combines the result with the element of `operand`, a
// tensor of the shape and layout of y, at the same position: EPILOGUE is Add, Sub (result - operand), SubFrom
// (operand - result) or Mul. With OPERAND_OF_CHANNELS the operand has one element for each channel of y, and EPILOGUE is
// PRelu, whose slopes are the operand. kernels/framework/fuse_epilogues.hpp says when. Include this file after
// TENSOR_OUT(y), or after LINEAR_OUT(y) with LINEAR_RESULTS defined. Each element is stored once, by one invocation.

#ifdef EPILOGUE

#ifdef OPERAND_OF_CHANNELS
#define operand_shape ivec4(1, 1, y_shape.z, 1)
#else
#define operand_shape y_shape
#endif
#ifdef LINEAR_RESULTS
QUADS_IN(operand)
#define POSITION_OF_RESULT int
#else
TENSOR_IN(operand)
#define POSITION_OF_RESULT ivec4
#endif

// The result is rounded before it is combined, as it is where an operator of its own combines it.
vec4 epilogue_Add(vec4 v, vec4 operand) {
  precise vec4 sum = v + operand;
  return sum;
}
vec4 epilogue_Sub(vec4 v, vec4 operand) {
  precise vec4 difference = v - operand;
  return difference;
}
vec4 epilogue_SubFrom(vec4 v, vec4 operand) {
  precise vec4 difference = operand - v;
  return difference;
}
vec4 epilogue_Mul(vec4 v, vec4 operand) {
  precise vec4 product = v * operand;
  return product;
}
vec4 epilogue_PRelu(vec4 v, vec4 slope) { return mix(v, epilogue_Mul(v, slope), lessThan(v, vec4(0))); }

vec4 load_operand_at(POSITION_OF_RESULT at) {
#ifdef LINEAR_RESULTS
  return load4_operand(at);
#elif defined(OPERAND_OF_CHANNELS)
  return load_operand(ivec4(0, 0, at.z, 0));
#else
  return load_operand(at);
#endif
}

void store_result(POSITION_OF_RESULT at, vec4 v) {
  vec4 other = load_operand_at(at), lowest = vec4(LOWEST_HALF);
  has_lowest_operand = notEqual(ivec4(equal(v, lowest)) + ivec4(equal(other, lowest)), ivec4(0));
  store_y(at, CAT(epilogue_, EPILOGUE)(v, other));
}

#else
#define store_result store_y
#endif
