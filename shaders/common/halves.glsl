// Conversion of fp32 numbers to fp16.
#ifndef HALVES_GLSL
#define HALVES_GLSL

// PACK_HALVES is defined where the device's packHalf2x16() is wrong (DeviceCaps::packs_halves). The bits are then computed with
// integers: rounded to the nearest half, ties to even; magnitudes from 65520 on become infinite.
#ifdef PACK_HALVES
uint half_bits(float v) {
  uint bits = floatBitsToUint(v), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  // Changes the bias of the exponent from 127 to 15. Rounding may carry into the exponent, which is correct.
  uint normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Halves below 2^-14 are multiples of 2^-24.
  uint small = uint(roundEven(uintBitsToFloat(magnitude) * 16777216.0));
  uint half_magnitude = magnitude < 0x38800000u ? small : normal;
  if (magnitude >= 0x477ff000u) half_magnitude = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  return sign | half_magnitude;
}
uint pack_half2(vec2 v) { return half_bits(v.x) | half_bits(v.y) << 16; }
#else
uint pack_half2(vec2 v) { return packHalf2x16(v); }
#endif
#endif
