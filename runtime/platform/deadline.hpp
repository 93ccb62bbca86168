// Deadlines of waits.
#pragma once

#include <chrono>

namespace vellum::platform {

// Returns the time now + `timeout`, limited to the clock's range.
inline std::chrono::steady_clock::time_point deadline_after(std::chrono::nanoseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point now = Clock::now();
  return timeout > Clock::time_point::max() - now ? Clock::time_point::max() : now + timeout;
}

}  // namespace vellum::platform
