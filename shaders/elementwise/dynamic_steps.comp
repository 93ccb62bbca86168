// DynamicQuantizeLinear, after dynamic_range.comp found the range.
// https://onnx.ai/onnx/operators/onnx__DynamicQuantizeLinear.html
//
// y gets the integers less their zero point, as floats, and `scale` the bits of the scale.
//   INTEGERS      x and y are linear, and y gets the integers
//   SCALE_ALONE   the only outputs are `scale`, which gets the scale itself, and `zero`, the zero point
//   CONTIGUOUS    texels are read in their order in memory, the same in x and y: y_shape is a row of them, and a workgroup
//                 computes a range of it, count4 texels an invocation
//   EXACT_DIVISION   the device's quotients are the nearest floats (DeviceCaps::exact_division)
//   SYMMETRIC, SIGNED_BYTES   the integers of LiteRT (StepsForm in graph/operators/elementwise/dynamic_steps.hpp)
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "dynamic_steps.h"
#define x_shape y_shape
// Bytes hold what is never negative, whose zero point is 0.
#define RESULTS_IN_STEPS
#include "tensor.glsl"
#include "texel.glsl"
#include "round_to_steps.glsl"

LINEAR_IN(counters)
#if defined(SCALE_ALONE)
LINEAR_OUT(scale)
LINEAR_OUT(zero)
#elif defined(INTEGERS)
LINEAR_IN(x)
LINEAR_OUT(y)
#else
LINEAR_OUT(scale)
TENSOR_IN(x)
TENSOR_OUT(y)
#endif

// Returns (range + rest_of_range) / count, rounded to nearest; rest_of_range is the rounding error of range. The device's
// quotient may be wrong by a few units in the last place, so its exact remainder corrects it: halves of its bits have exact
// products with a count of 8 bits.
float step_of(float range, float rest_of_range, float count) {
  float quotient = range / count;
  float high = uintBitsToFloat(floatBitsToUint(quotient) & 0xfffff000u);
  precise float low = quotient - high;
  precise float rest = ((range - high * count) - low * count) + rest_of_range;
  float nearest = quotient + rest / count;
  return abs(nearest) < 1e-30 || abs(nearest) > 1e30 ? quotient : nearest;
}

float step, zero_point;
#if defined(SYMMETRIC) || defined(SIGNED_BYTES)
#ifdef SYMMETRIC
#define LEAST -127.0
#else
#define LEAST -128.0
#endif

float inverse;

// Returns a / b, rounded to nearest: the exact remainder, from products of halves of the bits (Dekker 1971), corrects the
// device's quotient.
float quotient_of(float a, float b) {
  float quotient = a / b;
  float high = uintBitsToFloat(floatBitsToUint(quotient) & 0xfffff000u), b_high = uintBitsToFloat(floatBitsToUint(b) & 0xfffff000u);
  precise float low = quotient - high, b_low = b - b_high;
  precise float rest = (((a - high * b_high) - high * b_low) - low * b_high) - low * b_low;
  float nearest = quotient + rest / b;
  return abs(nearest) < 1e-30 || abs(nearest) > 1e30 ? quotient : nearest;
}

// Returns the nearest integers, halves rounded away from zero.
vec4 nearest_whole(vec4 v) {
  vec4 whole = trunc(v);
  return whole + sign(v) * vec4(greaterThanEqual(abs(v - whole), vec4(0.5)));
}

vec4 quantised(vec4 v) {
  precise vec4 product = without_nan(v) * inverse;
  precise vec4 sum = zero_point + product;
  return clamp(nearest_whole(sum), vec4(LEAST), vec4(127));
}

void find_step() {
  float high = intBitsToFloat(load_counters(counter)), low = -intBitsToFloat(load_counters(counter + 1));
  step = 1.0;
  inverse = zero_point = 0.0;
  if (high <= low) return;
#ifdef SYMMETRIC
  float range = max(high, -low);
  step = step_of(range, 0.0, 127.0);
  inverse = quotient_of(127.0, range);
#else
  precise float range = high - low;
  precise float of_high = range + low, rest = (high - of_high) + ((of_high - range) - low);
  step = step_of(range, rest, 255.0);
  inverse = quotient_of(1.0, step);
  zero_point = nearest_whole(vec4(clamp(-128.0 - low / step, -128.0, 127.0))).x;
#endif
}
#else
Step divisor;

// |v / step| is at most 255.
vec4 steps_of(vec4 v) {
#ifdef EXACT_DIVISION
  return without_nan(roundEven(v / divisor.step));
#else
  return without_nan(nearest_steps(v, roundEven(v * divisor.twice_inverse), divisor));
#endif
}

vec4 quantised(vec4 v) { return clamp(steps_of(v) + zero_point, vec4(0), vec4(255)); }

void find_step() {
  float high = intBitsToFloat(load_counters(counter)), low = -intBitsToFloat(load_counters(counter + 1));
  step = high > low ? step_of(high - low, 0.0, 255.0) : 1.0;
  divisor = step_of_size(step);
  zero_point = clamp(steps_of(vec4(-low)).x, 0.0, 255.0);
}
#endif

void main() {
  find_step();
#if defined(SCALE_ALONE)
  if (flat_index() > 0) return;
  store_scale(0, vec4(step, 0, 0, 0));
  store_zero(0, ivec4(int(zero_point), 0, 0, 0));
#elif defined(INTEGERS)
  int i4 = flat_index();
  if (i4 < count4) store_y(i4, ivec4(quantised(load4_x(i4))));
#elif defined(CONTIGUOUS)
  const int block = workgroup_index() * (WORKGROUP_X * count4), end = min(block + WORKGROUP_X * count4, y_shape.x);
  int i = block + int(gl_LocalInvocationID.x);
  if (i == 0) store_scale(0, ivec4(floatBitsToInt(step), 0, 0, 0));
  // Four texels in each iteration, because on CPUs an iteration takes longer than a load. Their stores are in no branch, in which
  // lavapipe takes a quarter longer.
  for (; i + 3 * WORKGROUP_X < end; i += 4 * WORKGROUP_X) {
    vec4 v[4];
    [[unroll]] for (int k = 0; k < 4; ++k) v[k] = load_x(ivec4(i + k * WORKGROUP_X, 0, 0, 0));
    [[unroll]] for (int k = 0; k < 4; ++k)
      store_y(ivec4(i + k * WORKGROUP_X, 0, 0, 0), quantised(v[k]) - zero_point);
  }
  for (; i < end; i += WORKGROUP_X) store_y(ivec4(i, 0, 0, 0), quantised(load_x(ivec4(i, 0, 0, 0))) - zero_point);
#else
  ivec4 p;
  bool exists = output_texel(y_shape, p);
  if (p == ivec4(0)) store_scale(0, ivec4(floatBitsToInt(step), 0, 0, 0));
  if (exists) store_y(p, quantised(load_x(p)) - zero_point);
#endif
}
