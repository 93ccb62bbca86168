#include <map>
#include <queue>

#include "../orders.hpp"
#include "assignment.hpp"

namespace vellum::planner::detail {

// In execution order, each tensor gets the object of its extent that has been free longest. The tensors of
// one extent are an interval graph, so the number of objects is the most tensors of that extent that are live
// at once.
ObjectAssignment objects_equality(const RecordClass& records) {
  using Release = std::pair<int64_t, uint32_t>;  // last task, object
  using Releases = std::priority_queue<Release, std::vector<Release>, std::greater<>>;
  std::map<Extent, Releases> objects;
  ObjectAssignment object_of(records.items.size());
  uint32_t count = 0;
  for (const uint32_t i : in_order(records.items)) {
    const Item& item = records.items[i];
    Releases& releases = objects[item.extent];
    if (!releases.empty() && releases.top().first < item.first) {
      object_of[i] = releases.top().second;
      releases.pop();
    } else {
      object_of[i] = count++;
    }
    releases.emplace(item.last, object_of[i]);
  }
  return object_of;
}

}  // namespace vellum::planner::detail
