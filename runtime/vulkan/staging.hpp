// The size of the staging memory through which bytes are uploaded to the device.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vellum {

inline constexpr uint64_t kMinStagingBytes = uint64_t{4} << 10, kMaxStagingBytes = uint64_t{16} << 20;

// Returns the bytes that an upload takes in staging memory. Each begins at a multiple of the largest texel
// (16 bytes).
constexpr uint64_t staged_bytes(uint64_t bytes) { return (bytes + 15) / 16 * 16; }

// Returns the size of the staging memory for uploads of `bytes` in total, each counted by staged_bytes(). If
// they exceed the result, they are uploaded in several rounds.
constexpr uint64_t staging_capacity(uint64_t bytes) {
  return std::clamp(bytes, kMinStagingBytes, kMaxStagingBytes);
}

}  // namespace vellum
