#include "kernels/framework/choice.hpp"

namespace vellum {

size_t quickest(const TuningTable* table, std::string_view signature,
                std::span<const std::string> candidates) {
  if (!table) return 0;
  const auto entry = table->operators.find(signature);
  if (entry == table->operators.end()) return 0;
  const auto first = entry->second.find(candidates.front());
  if (first == entry->second.end()) return 0;
  double least = kClearlyQuicker * first->second;
  size_t best = 0;
  for (size_t i = 1; i < candidates.size(); ++i) {
    const auto time = entry->second.find(candidates[i]);
    if (time == entry->second.end() || time->second >= least) continue;
    least = time->second;
    best = i;
  }
  return best;
}

}  // namespace vellum
