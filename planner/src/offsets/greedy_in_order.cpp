#include "../orders.hpp"
#include "arena.hpp"
#include "assignment.hpp"

namespace vellum::planner::detail {

OffsetAssignment offsets_greedy_in_order(const RecordClass& records) {
  return place_in(in_order(records.items), records);
}

}  // namespace vellum::planner::detail
