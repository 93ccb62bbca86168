#include "../orders.hpp"
#include "arena.hpp"
#include "assignment.hpp"

namespace vellum::planner::detail {

OffsetAssignment offsets_greedy_by_size(const RecordClass& records) {
  return place_in(by_size(records.items), records);
}

}  // namespace vellum::planner::detail
