// Every bit and the length of the content count.
#include "platform/fingerprint.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace vellum::platform {
namespace {

TEST(Fingerprint, DiffersForEveryBitAndLength) {
  std::set<std::pair<uint64_t, uint64_t>> seen;
  size_t contents = 0;
  const auto add = [&](const std::vector<std::byte>& bytes) {
    const Fingerprint print = fingerprint(bytes);
    seen.emplace(print.low, print.high);
    ++contents;
  };
  for (size_t length = 0; length <= 200; ++length) add(std::vector<std::byte>(length));
  for (size_t bit = 0; bit < 8 * 200; ++bit) {
    std::vector<std::byte> bytes(200);
    bytes[bit / 8] = std::byte(1 << bit % 8);
    add(bytes);
  }
  EXPECT_EQ(seen.size(), contents);
}

}  // namespace
}  // namespace vellum::platform
