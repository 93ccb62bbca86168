#include "orders.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "task_axis.hpp"

namespace vellum::planner::detail {
namespace {

template <typename Key>
Order sorted_by(std::span<const Item> items, Key key) {
  Order order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  return order;
}

// Finds the leftmost position of the largest value in first..last in O(1), after O(n log n) preparation.
class RangeArgmax {
 public:
  explicit RangeArgmax(std::vector<uint64_t> values) : values_(std::move(values)) {
    levels_.emplace_back(values_.size());
    std::iota(levels_[0].begin(), levels_[0].end(), 0u);
    for (size_t width = 2; width <= values_.size(); width *= 2) {
      const auto& half = levels_.back();
      std::vector<uint32_t> level(values_.size() - width + 1);
      for (size_t i = 0; i < level.size(); ++i) level[i] = better(half[i], half[i + width / 2]);
      levels_.push_back(std::move(level));
    }
  }

  uint32_t operator()(size_t first, size_t last) const {
    const auto k = static_cast<size_t>(std::bit_width(last - first + 1) - 1);
    return better(levels_[k][first], levels_[k][last + 1 - (size_t{1} << k)]);
  }

 private:
  uint32_t better(uint32_t left, uint32_t right) const {
    return values_[right] > values_[left] ? right : left;
  }

  std::vector<uint64_t> values_;
  std::vector<std::vector<uint32_t>> levels_;
};

}  // namespace

Order in_order(std::span<const Item> items) {
  return sorted_by(items, [&](uint32_t i) { return std::tuple(items[i].first, ~items[i].bytes, i); });
}

Order by_size(std::span<const Item> items) {
  return sorted_by(
      items, [&](uint32_t i) { return std::tuple(~items[i].bytes, items[i].first, -items[i].last, i); });
}

std::vector<uint64_t> breadths(std::span<const Item> items) {
  const TaskAxis axis(items);
  // Differences may wrap around, as unsigned numbers do; the running sums are exact.
  std::vector<uint64_t> breadth(axis.size() + 1);
  for (const Item& item : items) {
    breadth[axis.first(item)] += item.bytes;
    breadth[axis.last(item) + 1] -= item.bytes;
  }
  std::partial_sum(breadth.begin(), breadth.end(), breadth.begin());
  breadth.pop_back();
  return breadth;
}

Order by_breadth(std::span<const Item> items) {
  if (items.empty()) return {};
  const TaskAxis axis(items);
  const std::vector<uint64_t> breadth = breadths(items);
  const RangeArgmax broadest(breadth);
  // A tensor is visited at the broadest task during which it is live.
  std::vector<uint32_t> task(items.size());
  for (size_t i = 0; i < items.size(); ++i) task[i] = broadest(axis.first(items[i]), axis.last(items[i]));
  return sorted_by(items,
                   [&](uint32_t i) { return std::tuple(~breadth[task[i]], task[i], ~items[i].bytes, i); });
}

}  // namespace vellum::planner::detail
