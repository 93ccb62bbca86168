// Time compressed to the tasks at which some tensor starts. A tensor that is live at any other task is also
// live at the last start before it, so maxima over all tasks occur on this axis.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "problem.hpp"

namespace vellum::planner::detail {

class TaskAxis {
 public:
  explicit TaskAxis(std::span<const Item> items) {
    starts_.reserve(items.size());
    for (const Item& item : items) starts_.push_back(item.first);
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
  }

  size_t size() const { return starts_.size(); }
  int64_t task(size_t index) const { return starts_[index]; }
  size_t first(const Item& item) const { return last_start_at(item.first); }
  size_t last(const Item& item) const { return last_start_at(item.last); }

 private:
  size_t last_start_at(int64_t task) const {
    return static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), task) - starts_.begin()) - 1;
  }
  std::vector<int64_t> starts_;
};

}  // namespace vellum::planner::detail
