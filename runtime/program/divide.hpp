// Integer division that rounds up, and the number of channel slices.
#pragma once

#include <cstdint>

namespace vellum {

constexpr int64_t divide_up(int64_t value, int64_t by) { return (value + by - 1) / by; }
// Returns the number of slices, of four channels each.
constexpr int64_t slices(int64_t channels) { return divide_up(channels, 4); }
constexpr uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace vellum
