// Mixes the bits of an integer, for hashes and labels.
#pragma once

#include <cstdint>

namespace vellum::platform {

// The finalizer of SplitMix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators"):
// every bit of the result depends on every bit of the argument. It maps 0 to 0.
constexpr uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace vellum::platform
