// The exact search for objects whose extents are not nested: of two, neither covers the other.
#pragma once

#include <cstdint>

#include "../search_budget.hpp"
#include "assignment.hpp"

namespace vellum::planner::detail {

// Searches for a smaller assignment of textures, whose extents need not be nested. Lowers `best` and raises
// `bound`, a proved lower bound, until they meet, the bytes are at most `target`, or the budget or the memory
// for states (some 100 MiB) is spent. Up to 1000 records.
void search_extents(const RecordClass& records, ObjectAssignment& best, uint64_t& bound, uint64_t target,
                    SearchBudget& budget);

}  // namespace vellum::planner::detail
