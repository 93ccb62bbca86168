// A fast 128-bit hash of bytes, to tell weights apart. Not cryptographic: where somebody gains by two
// contents with one hash, use sha256.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vellum::platform {

struct Fingerprint {
  uint64_t low = 0, high = 0;
  bool operator==(const Fingerprint&) const = default;
};

// The same for the same bytes on every machine.
Fingerprint fingerprint(std::span<const std::byte> bytes);

}  // namespace vellum::platform
