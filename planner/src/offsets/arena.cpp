#include "arena.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace vellum::planner::detail {

Arena::Arena(std::span<const Item> items)
    : items_(items),
      by_first_(items.size()),
      rank_(items.size()),
      last_(items.size()),
      offset_of_(items.size()) {
  std::iota(by_first_.begin(), by_first_.end(), 0u);
  std::sort(by_first_.begin(), by_first_.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(items[a].first, a) < std::tuple(items[b].first, b);
  });
  for (uint32_t rank = 0; rank < by_first_.size(); ++rank) rank_[by_first_[rank]] = rank;
}

void Arena::find_live_with(const Item& item) {
  live_.clear();
  const auto starts_after =
      std::upper_bound(by_first_.begin(), by_first_.end(), item.last,
                       [&](int64_t task, uint32_t a) { return task < items_[a].first; });
  const auto end = static_cast<size_t>(starts_after - by_first_.begin());
  for (uint32_t rank = last_.find_first(0, item.first - 1); rank < end;
       rank = last_.find_first(rank + 1, item.first - 1)) {
    const uint32_t other = by_first_[rank];
    live_.emplace_back(offset_of_[other], offset_of_[other] + items_[other].bytes);
  }
  std::sort(live_.begin(), live_.end());
}

void Arena::place(uint32_t i) {
  const Item& item = items_[i];
  find_live_with(item);
  uint64_t best_offset = 0, best_gap = std::numeric_limits<uint64_t>::max();
  uint64_t top = 0;
  for (const auto& [offset, end] : live_) {
    if (offset > top && offset - top >= item.bytes && offset - top < best_gap) {
      best_gap = offset - top;
      best_offset = top;
    }
    top = std::max(top, end);
  }
  offset_of_[i] = best_gap != std::numeric_limits<uint64_t>::max() ? best_offset : top;
  last_.set(rank_[i], item.last);
}

OffsetAssignment place_in(const std::vector<uint32_t>& order, const RecordClass& records) {
  Arena arena(records.items);
  for (const uint32_t i : order) arena.place(i);
  return std::move(arena).offsets();
}

}  // namespace vellum::planner::detail
