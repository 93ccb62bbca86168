#include "assignment.hpp"

namespace vellum::planner::detail {

OffsetAssignment offsets_naive(const RecordClass& records) {
  OffsetAssignment offset_of;
  offset_of.reserve(records.items.size());
  uint64_t top = 0;
  for (const Item& item : records.items) {
    offset_of.push_back(top);
    top += item.bytes;
  }
  return offset_of;
}

}  // namespace vellum::planner::detail
