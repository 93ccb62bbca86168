#include "free_gaps.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace vellum::planner::detail {
namespace {

constexpr int64_t kBeforeAll = -1;  // tasks are not negative
constexpr int64_t kAfterAll = std::numeric_limits<int64_t>::max();

template <typename Key>
std::vector<uint32_t> ranked_by(size_t n, Key key) {
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return std::tuple(key(a), a) < std::tuple(key(b), b); });
  return order;
}

std::vector<uint32_t> inverse(const std::vector<uint32_t>& order) {
  std::vector<uint32_t> rank(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  return rank;
}

}  // namespace

FreeGaps::FreeGaps(std::span<const Item> items)
    : items_(items),
      by_last_(ranked_by(items.size(), [&](uint32_t i) { return items[i].last; })),
      by_first_(ranked_by(items.size(), [&](uint32_t i) { return items[i].first; })),
      rank_by_last_(inverse(by_last_)),
      rank_by_first_(inverse(by_first_)),
      next_(items.size(), kNone),
      previous_(items.size(), kNone),
      placed_(items.size(), false),
      end_after_(items.size()),
      begin_before_(items.size()) {}

int64_t FreeGaps::begin(const Gap& gap) const {
  return gap.left == kNone ? kBeforeAll : items_[gap.left].last;
}
int64_t FreeGaps::end(const Gap& gap) const {
  return gap.right == kNone ? kAfterAll : items_[gap.right].first;
}

bool FreeGaps::exists(const Gap& gap) const {
  if (gap.left != kNone) return placed_[gap.left] && next_[gap.left] == gap.right;
  return placed_[gap.right] && previous_[gap.right] == kNone;
}

std::optional<TightestGap> FreeGaps::tightest(uint32_t i) const {
  const Item& item = items_[i];
  std::optional<TightestGap> best;
  // The latest end before the item whose gap reaches beyond the item.
  const auto ends_before = std::lower_bound(by_last_.begin(), by_last_.end(), item.first,
                                            [&](uint32_t a, int64_t task) { return items_[a].last < task; });
  const uint32_t left = end_after_.find_last(static_cast<size_t>(ends_before - by_last_.begin()), item.last);
  if (left != kNone) {
    const uint32_t neighbour = by_last_[left];
    best = {item.first - items_[neighbour].last, {neighbour, next_[neighbour]}};
  }
  // The earliest start after the item whose gap begins before the item.
  const auto starts_after =
      std::upper_bound(by_first_.begin(), by_first_.end(), item.last,
                       [&](int64_t task, uint32_t a) { return task < items_[a].first; });
  const uint32_t right =
      begin_before_.find_first(static_cast<size_t>(starts_after - by_first_.begin()), -item.first);
  if (right != kNone) {
    const uint32_t neighbour = by_first_[right];
    const int64_t distance = items_[neighbour].first - item.last;
    if (!best || distance < best->distance) best = {distance, {previous_[neighbour], neighbour}};
  }
  return best;
}

void FreeGaps::link(const Gap& gap) {
  if (gap.left != kNone) {
    next_[gap.left] = gap.right;
    end_after_.set(rank_by_last_[gap.left], end(gap));
  }
  if (gap.right != kNone) {
    previous_[gap.right] = gap.left;
    begin_before_.set(rank_by_first_[gap.right], -begin(gap));
  }
}

std::pair<Gap, Gap> FreeGaps::fill(const Gap& gap, uint32_t item) {
  placed_[item] = true;
  const Gap before{gap.left, item}, after{item, gap.right};
  link(before);
  link(after);
  return {before, after};
}

}  // namespace vellum::planner::detail
