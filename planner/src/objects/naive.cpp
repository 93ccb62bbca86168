#include <numeric>

#include "assignment.hpp"

namespace vellum::planner::detail {

ObjectAssignment objects_naive(const RecordClass& records) {
  ObjectAssignment object_of(records.items.size());
  std::iota(object_of.begin(), object_of.end(), 0u);
  return object_of;
}

}  // namespace vellum::planner::detail
