// The orders of preference among which the offset search is restarted.
#pragma once

#include <cstdint>
#include <vector>

#include "offset_search.hpp"

namespace vellum::planner::detail {

// Which preference finds a plan soonest differs from network to network by orders of magnitude, and so do
// slight variations of one. So a search gives up early and starts again with another.
class Priorities {
 public:
  Priorities(std::span<const Item> items, const OffsetSearch& search);

  size_t kinds() const { return scores_.size(); }
  // Round 0 is the preference itself; later rounds vary it, always in the same way. Per block; the higher
  // goes first.
  const std::vector<uint32_t>& rank(size_t kind, uint64_t round);

 private:
  struct Score {
    std::vector<int64_t> height;  // compared first: the tallest clique that the block is in, or 0 for all
    std::vector<double> weight;
  };
  std::vector<Score> scores_;
  std::vector<uint32_t> order_, rank_;
};

}  // namespace vellum::planner::detail
