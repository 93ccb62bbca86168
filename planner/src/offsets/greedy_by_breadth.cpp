#include "../orders.hpp"
#include "arena.hpp"
#include "assignment.hpp"

namespace vellum::planner::detail {

OffsetAssignment offsets_greedy_by_breadth(const RecordClass& records) {
  return place_in(by_breadth(records.items), records);
}

}  // namespace vellum::planner::detail
