// The lifetimes of the tensors that one object carries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "../problem.hpp"

namespace vellum::planner::detail {

class Timeline {
 public:
  static constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

  bool is_free(const Item& item) const { return gap(item).has_value(); }

  // Returns the number of tasks between the item and its nearest neighbour in time, or kUnbounded without
  // neighbours. Returns nothing if a neighbour's lifetime overlaps the item's.
  std::optional<int64_t> gap(const Item& item) const {
    const auto next = after(item);
    int64_t nearest = kUnbounded;
    if (next != busy_.end()) {
      if (next->first <= item.last) return std::nullopt;
      nearest = next->first - item.last;
    }
    if (next != busy_.begin()) {
      const auto& previous = *std::prev(next);
      if (previous.second >= item.first) return std::nullopt;
      nearest = std::min(nearest, item.first - previous.second);
    }
    return nearest;
  }

  void occupy(const Item& item) { busy_.insert(after(item), {item.first, item.last}); }

 private:
  using Lifetimes = std::vector<std::pair<int64_t, int64_t>>;  // sorted, disjoint

  Lifetimes::const_iterator after(const Item& item) const {
    // Strategies usually add items in the order of time.
    if (busy_.empty() || busy_.back().first < item.first) return busy_.end();
    return std::lower_bound(busy_.begin(), busy_.end(), std::pair(item.first, int64_t{0}));
  }

  Lifetimes busy_;
};

}  // namespace vellum::planner::detail
