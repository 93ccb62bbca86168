// When a wait ends.
#pragma once

#include <chrono>

namespace vellum::platform {

// The time at which a wait of this length ends that begins now; of one beyond the clock's range, never.
inline std::chrono::steady_clock::time_point deadline_after(std::chrono::nanoseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point now = Clock::now();
  return timeout > Clock::time_point::max() - now ? Clock::time_point::max() : now + timeout;
}

}  // namespace vellum::platform
