// An arena that is filled tensor by tensor.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../problem.hpp"
#include "../trees.hpp"
#include "assignment.hpp"

namespace vellum::planner::detail {

class Arena {
 public:
  explicit Arena(std::span<const Item> items);

  // Places the item in the smallest sufficient gap between the tensors that are live with it, the lowest
  // among equal gaps, or above all of them if there is none (Pisarchyk & Lee 2020, algorithm 3). O(m log n)
  // for m tensors live with it.
  void place(uint32_t item);

  OffsetAssignment offsets() && { return std::move(offset_of_); }

 private:
  void find_live_with(const Item& item);

  std::span<const Item> items_;
  std::vector<uint32_t> by_first_, rank_;
  MaxTree last_;  // at rank by first: last task of the items placed
  OffsetAssignment offset_of_;
  std::vector<std::pair<uint64_t, uint64_t>> live_;  // offset and end of tensors live with the item
};

// Places the items in the given order.
OffsetAssignment place_in(const std::vector<uint32_t>& order, const RecordClass& records);

}  // namespace vellum::planner::detail
