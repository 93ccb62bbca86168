// Unsigned 64-bit arithmetic that detects overflow, because sizes come from untrusted files.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace vellum::planner::detail {

inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  if (a > std::numeric_limits<uint64_t>::max() - b) return std::nullopt;
  return a + b;
}

inline std::optional<uint64_t> checked_multiply(uint64_t a, uint64_t b) {
  if (a != 0 && b > std::numeric_limits<uint64_t>::max() / a) return std::nullopt;
  return a * b;
}

// Rounds up to a multiple of `alignment`, a power of two.
inline std::optional<uint64_t> checked_align(uint64_t value, uint64_t alignment) {
  const auto sum = checked_add(value, alignment - 1);
  if (!sum) return std::nullopt;
  return *sum & ~(alignment - 1);
}

}  // namespace vellum::planner::detail
