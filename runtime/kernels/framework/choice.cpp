#include "kernels/framework/choice.hpp"

#include <algorithm>
#include <numeric>

namespace vellum {

bool is_measured(const TuningTable* table, std::string_view signature) {
  return table && table->operators.contains(signature);
}

size_t quickest(const TuningTable* table, std::string_view signature,
                std::span<const KernelName> candidates) {
  if (!table) return 0;
  const auto entry = table->operators.find(signature);
  if (entry == table->operators.end()) return 0;
  const auto first = entry->second.find(candidates.front().text());
  if (first == entry->second.end()) return 0;
  double least = kClearlyQuicker * first->second;
  size_t best = 0;
  for (size_t i = 1; i < candidates.size(); ++i) {
    const auto time = entry->second.find(candidates[i].text());
    if (time == entry->second.end() || time->second >= least) continue;
    least = time->second;
    best = i;
  }
  return best;
}

std::vector<size_t> by_predicted_cost(std::span<const KernelPrediction> predictions) {
  std::vector<size_t> numbers(predictions.size());
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  std::ranges::stable_sort(numbers, {}, [&](size_t i) { return predictions[i].cost; });
  return numbers;
}

}  // namespace vellum
