// The orders in which the greedy strategies visit tensors. Each breaks ties by the record's index, so the
// order, and with it the plan, is the same every time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "problem.hpp"

namespace vellum::planner::detail {

using Order = std::vector<uint32_t>;  // indices into items

// Execution order: by first task; among tensors of one task the larger first.
Order in_order(std::span<const Item> items);
// Largest first; among equals the earlier, then the longer-lived first.
Order by_size(std::span<const Item> items);
// By breadth (Pisarchyk & Lee 2020, section 4.2): tasks by falling breadth, which is the bytes live at the
// task; at each task its tensors that have not been visited, largest first.
Order by_breadth(std::span<const Item> items);

// Returns the bytes live at each position of the TaskAxis of the same items.
std::vector<uint64_t> breadths(std::span<const Item> items);

}  // namespace vellum::planner::detail
