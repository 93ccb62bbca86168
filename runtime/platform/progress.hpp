// Progress and cancellation of a long function, shared between the thread that runs it and other threads.
#pragma once

#include <atomic>
#include <cstddef>

#include "vellum/error.hpp"

namespace vellum {

class Progress {
 public:
  void cancel() { cancelled_ = true; }
  // Throws Error(cancelled) after cancel().
  void check() const {
    if (cancelled_) throw Error(ErrorCode::cancelled, "the session's creation was cancelled");
  }
  // Adds to the expected number of steps.
  void expect(size_t steps) { total_ += steps; }
  void advance() { ++done_; }
  size_t done() const { return done_; }
  size_t total() const { return total_; }

 private:
  std::atomic<bool> cancelled_ = false;
  std::atomic<size_t> done_ = 0, total_ = 0;
};

// Does the same as progress->check(), or nothing if `progress` is null.
inline void check(const Progress* progress) {
  if (progress) progress->check();
}

}  // namespace vellum
