// Reads the most likely classes from a classifier's output.
#pragma once

#include <span>
#include <vector>

#include "vellum/vellum.hpp"

namespace vellum::io {

struct ClassScore {
  std::size_t index = 0;
  float probability = 0;  // 0..1
};

// Returns whether this is the shape of one list of scores: [N], [1, N] or [1, N, 1, 1]. An open batch counts
// as one.
bool is_list_of_scores(Shape shape);

// Returns the `count` most likely classes, the best first. Scores that are not probabilities (one is outside
// 0..1, or they do not add up to 1) first go through a softmax. Throws vellum::Error (invalid_argument) for a
// NaN.
std::vector<ClassScore> best_classes(std::span<const float> scores, std::size_t count);

}  // namespace vellum::io
