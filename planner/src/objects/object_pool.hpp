// The objects made so far, and the search for the one that suits a tensor best.
//
// An object grows to the maximum of its own and the tensor's extent in each dimension; the cost is the bytes
// that it gains. A tensor is assigned to the free object whose growth costs least, among equals to the one
// that leaves the fewest bytes unused. It gets a new object if growing would cost as much as the tensor
// itself. For bytes this is the rule of Lee et al. 2019: the smallest object that is large enough, else the
// largest one, grown. (Growing b bytes to s > b costs s - b < s, so an object is reused wherever one is
// free.)
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "../problem.hpp"
#include "../task_axis.hpp"
#include "../trees.hpp"
#include "assignment.hpp"
#include "timeline.hpp"

namespace vellum::planner::detail {

class ObjectPool {
 public:
  struct Fit {
    uint32_t object = 0;
    uint64_t growth = 0;  // bytes that the object gains
    uint64_t unused = 0;  // bytes of the grown object beyond the tensor's
  };

  explicit ObjectPool(const RecordClass& records)
      : records_(records), axis_(records.items), busy_(axis_.size()) {}

  // Returns the best free object for the item; nothing if a new one is better.
  std::optional<Fit> best_fit(const Item& item) const;
  // Returns the cost of adding the item to that object; nothing if the object is not free for its lifetime.
  std::optional<Fit> fit(uint32_t object, const Item& item) const;
  // Returns the number of tasks between the item and its nearest neighbour in that object, see
  // Timeline::gap().
  std::optional<int64_t> gap(uint32_t object, const Item& item) const {
    return objects_[object].busy.gap(item);
  }

  void put(uint32_t object, const Item& item);
  uint32_t put_in_new(const Item& item);
  size_t size() const { return objects_.size(); }

 private:
  struct Object {
    Extent extent;
    uint64_t bytes = 0;
    Timeline busy;
  };

  std::optional<Fit> best_fit_by_bytes(const Item& item) const;
  std::optional<Fit> best_fit_by_extent(const Item& item) const;

  const RecordClass& records_;
  TaskAxis axis_;
  RangeAddMax busy_;  // per task: number of objects in use; no object is free if all are
  std::vector<Object> objects_;
  std::set<std::pair<uint64_t, uint32_t>> by_bytes_;  // (bytes, object); kept for one-dimensional classes
};

// Assigns the items in the given order, each to its best fit.
ObjectAssignment assign_in(const std::vector<uint32_t>& order, const RecordClass& records);

}  // namespace vellum::planner::detail
