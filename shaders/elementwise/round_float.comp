// Rounds floats to the nearest value of a narrower format, ties to even. A value beyond the largest number
// becomes that number (SATURATE), infinity (INFINITE) or NaN. NO_NAN: the format has no NaN, and a NaN
// becomes 0.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "round_float.h"
#include "inf_nan.glsl"
#include "tensor.glsl"

LINEAR_IN(x)
LINEAR_OUT(y)

float power_of_two(int exponent) { return uintBitsToFloat(uint(clamp(exponent, -126, 127) + 127) << 23); }

float round_float(float v) {
#ifdef NO_NAN
  if (is_nan(v)) return 0.0;
#else
  if (is_nan(v)) return v;
#endif
  float magnitude = abs(v);
  int exponent = int(floatBitsToUint(magnitude) >> 23) - 127;
  // A quantum below the normal range of fp32 is left to the device, which may flush it to 0.
  int quantum = max(max(exponent, lowest_exponent) - mantissa_bits, -126);
  if (!is_inf(v)) magnitude = roundEven(magnitude * power_of_two(-quantum)) * power_of_two(quantum);
#if defined(SATURATE)
  magnitude = min(magnitude, largest);
#elif defined(INFINITE)
  if (magnitude > largest) magnitude = uintBitsToFloat(0x7f800000u);
#else
  if (magnitude > largest) magnitude = QUIET_NAN;
#endif
  return v < 0.0 ? -magnitude : magnitude;
}

void main() {
  int i4 = flat_index();
  if (i4 >= count4) return;
  vec4 v = load4_x(i4);
  store_y(i4, vec4(round_float(v.x), round_float(v.y), round_float(v.z), round_float(v.w)));
}
