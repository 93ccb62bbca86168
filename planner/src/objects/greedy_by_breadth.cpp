#include "../orders.hpp"
#include "assignment.hpp"
#include "object_pool.hpp"

namespace vellum::planner::detail {

// The tasks with the most live bytes are assigned first, while every object is still free for them.
ObjectAssignment objects_greedy_by_breadth(const RecordClass& records) {
  return assign_in(by_breadth(records.items), records);
}

}  // namespace vellum::planner::detail
