// Repeats a measurement until it has converged.
#pragma once

#include <chrono>
#include <limits>

namespace vellum {

// Calls `round` until its result has not decreased for a few rounds, or until about `most` has passed.
// `round` measures, and returns the sum of the minimum times so far. (Minima, because other work on the
// machine only makes times longer.)
template <typename Round>
void repeat_until_converged(std::chrono::milliseconds most, Round round) {
  constexpr int kConvergedAfter = 4;
  const auto begin = std::chrono::steady_clock::now();
  double least = std::numeric_limits<double>::infinity();
  int same = 0;
  do {
    const double sum = round();
    ++same;
    if (sum < 0.99 * least) {
      same = 0;
      least = sum;
    }
  } while (same < kConvergedAfter && std::chrono::steady_clock::now() - begin < most);
}

}  // namespace vellum
