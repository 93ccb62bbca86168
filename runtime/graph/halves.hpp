// Conversion of many floats to IEEE 754 binary16.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace vellum {

// Rounds to nearest even. Without a branch, so that compilers convert several numbers at once.
inline uint16_t nearest_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  // The exponent is smaller by 112. A carry from the mantissa into the exponent is also right; from 65520 on
  // it gives infinity.
  const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Halves below 2^-14 are multiples of 2^-24, as are the floats from 0.5 on: the sum rounds.
  const uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t large = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;  // NaN, infinity
  const uint32_t finite = magnitude < 0x38800000u ? small : normal;
  return static_cast<uint16_t>(sign | (magnitude >= 0x47800000u ? large : finite));
}

// Rounds `floats` to halves. `halves` has as many elements as `floats`.
void to_halves(std::span<const float> floats, uint16_t* halves);

}  // namespace vellum
