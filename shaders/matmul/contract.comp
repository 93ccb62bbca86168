// A tensor contraction of linear tensors with strides: y[i] = the sum of a[...] * b[...] over the summed loops,
// or without PAIR the sum of a[...]. An invocation, or with COOPERATIVE a workgroup, computes four consecutive
// elements of y. Used for operators without a specialised kernel: Einsum, products and convolutions of
// integers, convolutions of volumes.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "contract.h"
#include "tensor.glsl"
#include "element.glsl"
#include "divide.glsl"

LINEAR_IN(a)
#ifdef PAIR
LINEAR_IN(b)
LINEAR_OUT(y)
SCALAR term(ivec2 at) { return times(load_a(at.x), load_b(at.y)); }
#else
LINEAR_OUT(y)
SCALAR term(ivec2 at) { return load_a(at.x); }
#endif

// Returns the offsets in a and b at iteration i of the loops first ... last - 1.
ivec2 offsets(int i, int first, int last) {
  ivec2 at = ivec2(0);
  for (int d = last - 1; d >= first; --d) {
    ivec2 split = divide(i, dims[d]);
    at += split.y * ivec2(a_strides[d], b_strides[d]);
    i = split.x;
  }
  return at;
}

#ifdef COOPERATIVE
shared VECTOR partial_sums[WORKGROUP_X];
VECTOR sum_of_workgroup(VECTOR sum) {
  int lane = int(gl_LocalInvocationID.x);
  partial_sums[lane] = sum;
  for (int n = WORKGROUP_X / 2; n > 0; n /= 2) {
    barrier();
    if (lane < n) partial_sums[lane] = plus(partial_sums[lane], partial_sums[lane + n]);
  }
  barrier();
  return partial_sums[0];
}
#endif

void main() {
#ifdef COOPERATIVE
  int i4 = int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x);
#else
  int i4 = flat_index();
#endif
  if (4 * i4 >= count) return;
  int kept = kept_and_rank & 255, last = (kept_and_rank >> 8) - 1, parts = 1;
  for (int d = kept; d < last; ++d) parts *= dims[d];
  ivec2 base[4];
  [[unroll]] for (int j = 0; j < 4; ++j) base[j] = offsets(min(4 * i4 + j, count - 1), 0, kept);
  ivec2 step = ivec2(a_strides[last], b_strides[last]);
  VECTOR sum = VECTOR(0);
#ifdef COOPERATIVE
  for (int k = int(gl_LocalInvocationID.x); k < parts * dims[last]; k += WORKGROUP_X) {
    ivec2 at = offsets(k, kept, last + 1);
    [[unroll]] for (int j = 0; j < 4; ++j) sum[j] = plus(sum[j], term(base[j] + at));
  }
  sum = sum_of_workgroup(sum);
  if (gl_LocalInvocationID.x == 0) store_y(i4, sum);
#else
  for (int part = 0; part < parts; ++part) {
    ivec2 at = offsets(part, kept, last);
    for (int k = 0; k < dims[last]; ++k, at += step)
      [[unroll]] for (int j = 0; j < 4; ++j) sum[j] = plus(sum[j], term(base[j] + at));
  }
  store_y(i4, sum);
#endif
}
