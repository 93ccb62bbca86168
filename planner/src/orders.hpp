// The orders in which the greedy strategies visit tensors. Ties are broken by the record's index, so orders
// and plans are deterministic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "problem.hpp"

namespace vellum::planner::detail {

using Order = std::vector<uint32_t>;  // indices into items

// Execution order: by first task; tensors with the same first task by size, largest first.
Order in_order(std::span<const Item> items);
// By size, largest first. Among equal sizes the earlier tensor comes first, then the longer-lived one.
Order by_size(std::span<const Item> items);
// By breadth (Pisarchyk & Lee 2020, section 4.2): tasks in order of descending breadth (the bytes live at the
// task), and for each task its tensors that were not visited yet, largest first.
Order by_breadth(std::span<const Item> items);

// Returns the bytes live at each position of the TaskAxis of the same items.
std::vector<uint64_t> breadths(std::span<const Item> items);

}  // namespace vellum::planner::detail
