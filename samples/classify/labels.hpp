// Which classes a classifier's output means.
#pragma once

#include <span>
#include <vector>

namespace vellum::samples {

struct ClassScore {
  std::size_t index = 0;
  float probability = 0;  // 0..1
};

// The `count` likeliest classes, the best first. Scores that are no probabilities yet (one is outside 0..1,
// or they do not add up to 1) go through a softmax. Throws vellum::Error (invalid_argument) when one is no
// number.
std::vector<ClassScore> best_classes(std::span<const float> scores, std::size_t count);

}  // namespace vellum::samples
