#include "platform/fingerprint.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "platform/mix.hpp"

namespace vellum::platform {
namespace {

// Eight independent lanes, each with two chains that spread a difference in different ways: a difference that
// the next words happen to cancel in one chain stays in the other.
constexpr size_t kLanes = 8;
constexpr uint64_t kOdd1 = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio
constexpr uint64_t kOdd2 = 0xc2b2ae3d27d4eb4fu;

uint64_t load(const std::byte* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big) {
    uint64_t swapped = 0;
    for (int i = 0; i < 8; ++i) swapped |= (word >> (8 * i) & 0xff) << (56 - 8 * i);
    return swapped;
  }
  return word;
}

struct Lanes {
  std::array<uint64_t, kLanes> first, second;

  Lanes() {
    for (size_t i = 0; i < kLanes; ++i) first[i] = mix(i + 1), second[i] = mix(~uint64_t{i});
  }
  void add(const std::byte* block) {
    for (size_t i = 0; i < kLanes; ++i) {
      const uint64_t word = load(block + 8 * i);
      first[i] = std::rotl((first[i] ^ word) * kOdd1, 29) + kOdd2;
      second[i] = std::rotl(second[i] + word * kOdd2, 31) * kOdd1;
    }
  }
};

}  // namespace

Fingerprint fingerprint(std::span<const std::byte> bytes) {
  constexpr size_t kBlock = 8 * kLanes;
  Lanes lanes;
  size_t at = 0;
  for (; bytes.size() - at >= kBlock; at += kBlock) lanes.add(bytes.data() + at);
  std::array<std::byte, kBlock> rest{};
  if (bytes.size() > at) std::memcpy(rest.data(), bytes.data() + at, bytes.size() - at);
  lanes.add(rest.data());

  Fingerprint result{mix(bytes.size()), mix(~uint64_t{bytes.size()})};
  for (size_t i = 0; i < kLanes; ++i) {
    result.low = mix((result.low ^ lanes.first[i]) * kOdd2);
    result.high = mix((result.high + lanes.second[i]) * kOdd1);
  }
  return result;
}

}  // namespace vellum::platform
