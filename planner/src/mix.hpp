// Deterministic pseudo-random numbers.
#pragma once

#include <cstdint>

namespace vellum::planner::detail {

// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): maps neighbouring numbers to unrelated ones.
// The sequence mix(0), mix(1), ... is pseudo-random and the same on every platform.
inline uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace vellum::planner::detail
