// The gaps between lifetimes over all objects, with "which gap holds this tensor most tightly" in O(log n).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "../problem.hpp"
#include "../trees.hpp"

namespace vellum::planner::detail {

// The free time in one object between two neighbouring items; kNone where the gap is open to that side.
// No gap is open to both sides: every object carries an item.
struct Gap {
  uint32_t left = kNone, right = kNone;  // indices into items
};

struct TightestGap {
  int64_t distance = 0;  // tasks from the item to the nearer neighbour
  Gap gap;
};

class FreeGaps {
 public:
  explicit FreeGaps(std::span<const Item> items);

  std::optional<TightestGap> tightest(uint32_t item) const;
  bool exists(const Gap& gap) const;
  // Puts the item into the gap; a Gap without neighbours stands for a new object. Gives the two gaps that
  // remain.
  std::pair<Gap, Gap> fill(const Gap& gap, uint32_t item);
  // Tasks between which the gap is free, both exclusive.
  int64_t begin(const Gap& gap) const;
  int64_t end(const Gap& gap) const;

 private:
  void link(const Gap& gap);

  std::span<const Item> items_;
  // A gap is known by its left neighbour in one tree and by its right one in the other.
  std::vector<uint32_t> by_last_, by_first_;            // item at each rank
  std::vector<uint32_t> rank_by_last_, rank_by_first_;  // rank of each item
  std::vector<uint32_t> next_, previous_;               // neighbours of a placed item in its object
  std::vector<bool> placed_;
  MaxTree end_after_;     // at rank by last: end of the gap that follows the item
  MaxTree begin_before_;  // at rank by first: minus the begin of the gap that precedes the item
};

}  // namespace vellum::planner::detail
