#include "../orders.hpp"
#include "assignment.hpp"
#include "object_pool.hpp"

namespace vellum::planner::detail {

// Execution order needs no look-ahead: a runtime without a plan would do the same.
ObjectAssignment objects_greedy_in_order(const RecordClass& records) {
  return assign_in(in_order(records.items), records);
}

}  // namespace vellum::planner::detail
