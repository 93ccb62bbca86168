// The range of floats, extended to contain 0, as the bits of floats in two counters that begin with 0: the largest element, and
// the negated smallest one. Floats from 0 on are ordered as their bits are, and the bits of negative ones are negative integers.
// (CPUs compare signed integers in one instruction, unsigned ones in three.) A NaN is ignored.
//
// With NEVER_NEGATIVE no element is below 0, and the second counter stays 0.
//
// With DIRECT_ATOMICS each invocation updates the counters itself, unless they include its range already. CPUs take long to
// switch between the invocations of a workgroup at a barrier.
LINEAR_ATOMIC(counters)

const int SIGN = int(0x80000000u), INFINITE = 0x7f800000;
#ifndef DIRECT_ATOMICS
shared uint extremes[2];
#endif
ivec4 highest = ivec4(0), lowest = ivec4(0);

void include_in_range(vec4 v) {
  ivec4 up = floatBitsToInt(v);
  highest = max(highest, mix(up, ivec4(0), greaterThan(up, ivec4(INFINITE))));
#ifndef NEVER_NEGATIVE
  ivec4 down = up ^ SIGN;
  lowest = max(lowest, mix(down, ivec4(0), greaterThan(down, ivec4(INFINITE))));
#endif
}

uint largest(ivec4 v) { return uint(max(max(v.x, v.y), max(v.z, v.w))); }

// Merges the range of this invocation into the counters. All invocations must call it.
void merge_range(int counter) {
  uint high = largest(highest), low = largest(lowest);
#ifdef DIRECT_ATOMICS
  if (high > counters_data[counter]) atomicMax(counters_data[counter], high);
#ifndef NEVER_NEGATIVE
  if (low > counters_data[counter + 1]) atomicMax(counters_data[counter + 1], low);
#endif
#else
  int lane = int(gl_LocalInvocationIndex);
  if (lane < 2) extremes[lane] = 0;
  barrier();
  atomicMax(extremes[0], high);
  atomicMax(extremes[1], low);
  barrier();
  if (lane < 2) atomicMax(counters_data[counter + lane], extremes[lane]);
#endif
}
