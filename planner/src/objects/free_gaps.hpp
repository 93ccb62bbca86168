// The gaps between lifetimes over all objects. Finds the gap that fits a tensor most tightly in O(log n).
//
//   object | AAAA....BBB......     two gaps: between A and B, and after B
//          +------------------> task
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "../problem.hpp"
#include "../trees.hpp"

namespace vellum::planner::detail {

// The free time in one object between two neighbouring items; kNone if the gap has no neighbour on that side.
// Every gap has at least one neighbour, because every object carries an item.
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
  // Places the item in the gap and returns the two gaps that remain. A Gap without neighbours is a new
  // object.
  std::pair<Gap, Gap> fill(const Gap& gap, uint32_t item);
  // Tasks between which the gap is free, both exclusive.
  int64_t begin(const Gap& gap) const;
  int64_t end(const Gap& gap) const;

 private:
  void link(const Gap& gap);

  std::span<const Item> items_;
  // Each gap is found by its left neighbour in one tree and by its right neighbour in the other.
  std::vector<uint32_t> by_last_, by_first_;            // item at each rank
  std::vector<uint32_t> rank_by_last_, rank_by_first_;  // rank of each item
  std::vector<uint32_t> next_, previous_;               // neighbours of a placed item in its object
  std::vector<bool> placed_;
  MaxTree end_after_;     // at rank by last: end of the gap that follows the item
  MaxTree begin_before_;  // at rank by first: minus the start of the gap that precedes the item
};

}  // namespace vellum::planner::detail
