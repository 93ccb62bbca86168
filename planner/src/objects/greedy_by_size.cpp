#include "../orders.hpp"
#include "assignment.hpp"
#include "object_pool.hpp"

namespace vellum::planner::detail {

// Largest first, so an object never grows in bytes: each tensor gets the smallest object that is free.
ObjectAssignment objects_greedy_by_size(const RecordClass& records) {
  return assign_in(by_size(records.items), records);
}

}  // namespace vellum::planner::detail
