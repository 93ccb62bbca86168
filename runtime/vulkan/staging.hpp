// How much memory stands between host and device while bytes are uploaded.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vellum {

inline constexpr uint64_t kLeastStagingBytes = uint64_t{4} << 10, kMostStagingBytes = uint64_t{16} << 20;

// A piece begins at a multiple of the largest texel.
constexpr uint64_t staged_bytes(uint64_t bytes) { return (bytes + 15) / 16 * 16; }

// For uploads of `bytes` in all, each as staged_bytes() says. More go in several rounds.
constexpr uint64_t staging_capacity(uint64_t bytes) {
  return std::clamp(bytes, kLeastStagingBytes, kMostStagingBytes);
}

}  // namespace vellum
