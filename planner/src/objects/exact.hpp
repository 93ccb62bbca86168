#pragma once

#include <cstdint>

#include "../search_budget.hpp"
#include "assignment.hpp"

namespace vellum::planner::detail {

struct ExactObjects {
  ObjectAssignment object_of;
  uint64_t lower_bound = 0;  // proved
};

// Starts from a valid assignment and improves it until it is proved to be the smallest, reaches `target` or
// the budget is spent. Searches where extents are nested (of any two, one covers the other), as bytes always
// are, and at most 15 objects are needed; elsewhere it gives back the start.
ExactObjects improve_objects(const RecordClass& records, ObjectAssignment start, uint64_t target,
                             SearchBudget& budget);

}  // namespace vellum::planner::detail
