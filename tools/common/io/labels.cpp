#include "io/labels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "vellum/error.hpp"

namespace vellum::io {
namespace {

bool are_probabilities(std::span<const float> scores) {
  const bool inside = std::all_of(scores.begin(), scores.end(), [](float s) { return s >= 0 && s <= 1; });
  return inside && std::abs(std::accumulate(scores.begin(), scores.end(), 0.0) - 1) < 0.01;
}

std::vector<float> softmax(std::span<const float> scores) {
  const float largest = *std::max_element(scores.begin(), scores.end());
  std::vector<float> result(scores.size());
  std::transform(scores.begin(), scores.end(), result.begin(),
                 [&](float s) { return std::exp(s - largest); });
  const double sum = std::accumulate(result.begin(), result.end(), 0.0);
  for (float& value : result) value = static_cast<float>(value / sum);
  return result;
}

}  // namespace

bool is_list_of_scores(Shape shape) {
  if (!shape.empty() && shape[0] == kUnknownDim) shape[0] = 1;
  return is_known(shape) && element_count(shape) > 1 &&
         std::ranges::count(shape, 1) + 1 == static_cast<int64_t>(shape.size());
}

std::vector<ClassScore> best_classes(std::span<const float> scores, std::size_t count) {
  if (scores.empty() || !std::all_of(scores.begin(), scores.end(), [](float s) { return std::isfinite(s); }))
    throw Error(ErrorCode::invalid_argument, "the classifier's scores are not all finite numbers");
  const std::vector<float> probabilities =
      are_probabilities(scores) ? std::vector<float>(scores.begin(), scores.end()) : softmax(scores);
  std::vector<ClassScore> classes(scores.size());
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = {i, probabilities[i]};
  std::stable_sort(classes.begin(), classes.end(),
                   [](const ClassScore& a, const ClassScore& b) { return a.probability > b.probability; });
  classes.resize(std::min(count, classes.size()));
  return classes;
}

}  // namespace vellum::io
