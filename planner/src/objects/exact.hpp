// The exact search for plans of shared objects (docs/planner.md, "Exact plans").
#pragma once

#include <cstdint>

#include "../search_budget.hpp"
#include "assignment.hpp"

namespace vellum::planner::detail {

// An assignment and a lower bound for every assignment of the same records.
struct ExactObjects {
  ObjectAssignment object_of;
  uint64_t lower_bound = 0;  // proved
};

// Improves a valid assignment until it is proved to be the smallest, its bytes are at most `target`, or the
// budget is spent. If extents are nested (of any two, one covers the other, as for bytes), it searches only
// if at most 15 objects are needed. Other extents are left to exact_extents.hpp.
ExactObjects improve_objects(const RecordClass& records, ObjectAssignment start, uint64_t target,
                             SearchBudget& budget);

}  // namespace vellum::planner::detail
