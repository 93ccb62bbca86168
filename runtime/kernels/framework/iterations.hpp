// Counts what the loops of an invocation run, for Dispatch::iterations.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vellum {

// Returns the iterations of a loop of `count` rounds: each round with those of the loops in it, and one for the
// check that ends the loop.
constexpr uint64_t loop_iterations(int64_t count, uint64_t in_each = 0) {
  return static_cast<uint64_t>(std::max<int64_t>(count, 0)) * (1 + in_each) + 1;
}

}  // namespace vellum
