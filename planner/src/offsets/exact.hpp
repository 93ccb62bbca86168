// The exact search for plans of offsets (docs/planner.md, "Exact plans").
#pragma once

#include <cstdint>

#include "../search_budget.hpp"
#include "assignment.hpp"

namespace vellum::planner::detail {

// A plan and a lower bound for every plan of the same records.
struct ExactOffsets {
  OffsetAssignment offset_of;
  uint64_t lower_bound = 0;  // proved
};

// Improves a valid plan until it is proved to be the smallest, its bytes are at most `target`, or the budget
// is spent.
ExactOffsets improve_offsets(const RecordClass& records, OffsetAssignment start, uint64_t target,
                             SearchBudget& budget);

}  // namespace vellum::planner::detail
