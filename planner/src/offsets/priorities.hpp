// The priorities with which the offset search is restarted.
#pragma once

#include <cstdint>
#include <vector>

#include "offset_search.hpp"

namespace vellum::planner::detail {

// The time until a plan is found differs by orders of magnitude between priorities, even between slight
// variations of one, and no priority is best for every network. Therefore a search gives up early and
// restarts with another priority. A kind is a priority combined with a TieBreak, which is applied before it.
class Priorities {
 public:
  Priorities(std::span<const Item> items, const OffsetSearch& search);

  size_t kinds() const { return kinds_.size(); }
  TieBreak tie_break(size_t kind) const { return kinds_[kind].tie_break; }
  // Returns the priority of each block; higher ones are tried first. Round 0 is the plain priority of this
  // kind; later rounds vary it deterministically.
  const std::vector<uint32_t>& rank(size_t kind, uint64_t round);

 private:
  struct Score {
    std::vector<int64_t> height;  // compared first: the tallest clique that the block is in, or 0 for all
    std::vector<double> weight;
  };
  struct Kind {
    Score score;
    TieBreak tie_break;
  };
  std::vector<Kind> kinds_;
  std::vector<uint32_t> order_, rank_;
};

}  // namespace vellum::planner::detail
