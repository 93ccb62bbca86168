// A fast 128-bit hash that identifies weights by their bytes. Not cryptographic: use sha256.hpp if an
// attacker could profit from a collision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vellum::platform {

struct Fingerprint {
  uint64_t low = 0, high = 0;
  bool operator==(const Fingerprint&) const = default;
};

// Returns the hash of the bytes. It is the same on every machine.
Fingerprint fingerprint(std::span<const std::byte> bytes);

}  // namespace vellum::platform
