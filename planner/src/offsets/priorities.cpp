#include "priorities.hpp"

#include <algorithm>
#include <numeric>

#include "../mix.hpp"

namespace vellum::planner::detail {

Priorities::Priorities(std::span<const Item> items, const OffsetSearch& search)
    : order_(items.size()), rank_(items.size()) {
  const auto blocks = search.blocks();
  std::vector<int64_t> clique_height(search.cliques());
  for (size_t c = 0; c < clique_height.size(); ++c) {
    for (const uint32_t i : search.clique(c)) clique_height[c] += blocks[i].size;
  }
  const std::vector<int64_t> level(items.size(), 0);
  std::vector<int64_t> tallest(items.size(), 0);
  std::vector<double> duration, cliques;
  for (size_t i = 0; i < items.size(); ++i) {
    for (uint32_t c = blocks[i].first_clique; c <= blocks[i].last_clique; ++c)
      tallest[i] = std::max(tallest[i], clique_height[c]);
    duration.push_back(static_cast<double>(items[i].last - items[i].first) + 1);
    cliques.push_back(static_cast<double>(blocks[i].last_clique - blocks[i].first_clique) + 1);
  }
  const Score in_tall_tasks{tallest, duration}, long_lived{level, duration}, in_many_cliques{level, cliques};
  kinds_ = {{in_tall_tasks, TieBreak::failures_by_slack},
            {long_lived, TieBreak::failures_by_slack},
            {in_many_cliques, TieBreak::failures_by_slack},
            {in_tall_tasks, TieBreak::failures},
            {in_many_cliques, TieBreak::failures}};
}

const std::vector<uint32_t>& Priorities::rank(size_t kind, uint64_t round) {
  // Factors up to e^±0.15 or e^±0.5, round about: enough to swap neighbours, or much of the order.
  const double spread = round == 0 ? 0.0 : round % 2 == 1 ? 0.3 : 1.0;
  const Score& score = kinds_[kind].score;
  std::vector<double> weight = score.weight;
  for (size_t i = 0; i < weight.size(); ++i) {
    const auto random = static_cast<double>(mix((round << 32) + i) >> 11) * 0x1p-53;  // in [0, 1)
    weight[i] *= 1 + spread * random;
  }
  std::iota(order_.begin(), order_.end(), 0u);
  std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    if (score.height[a] != score.height[b]) return score.height[a] < score.height[b];
    return weight[a] < weight[b];
  });
  for (uint32_t place = 0; place < order_.size(); ++place) rank_[order_[place]] = place;
  return rank_;
}

}  // namespace vellum::planner::detail
