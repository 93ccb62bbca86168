#include "longest_within.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <tuple>

namespace vellum::planner::detail {

LongestWithin::LongestWithin(std::span<const Item> items)
    : items_(items),
      by_first_(items.size()),
      preference_(items.size()),
      leaves_(std::bit_ceil(std::max<size_t>(items.size(), 1))),
      nodes_(2 * leaves_) {
  std::vector<uint32_t> longest(items.size());
  std::iota(longest.begin(), longest.end(), 0u);
  by_first_ = longest;
  std::sort(by_first_.begin(), by_first_.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(items[a].first, a) < std::tuple(items[b].first, b);
  });
  std::sort(longest.begin(), longest.end(), [&](uint32_t a, uint32_t b) {
    const auto key = [&](uint32_t i) {
      return std::tuple(items[i].first - items[i].last, ~items[i].bytes, i);
    };
    return key(a) < key(b);
  });
  for (uint32_t place = 0; place < longest.size(); ++place) preference_[longest[place]] = place;
  for (size_t rank = 0; rank < by_first_.size(); ++rank) {
    nodes_[leaves_ + rank].by_last = {by_first_[rank]};
    build(leaves_ + rank);
  }
  for (size_t node = leaves_ - 1; node >= 1; --node) {
    const auto &left = nodes_[2 * node].by_last, &right = nodes_[2 * node + 1].by_last;
    std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(nodes_[node].by_last),
               [&](uint32_t a, uint32_t b) {
                 return std::tuple(items_[a].last, a) < std::tuple(items_[b].last, b);
               });
    build(node);
  }
}

uint32_t LongestWithin::better(uint32_t a, uint32_t b) const {
  if (a == kNone || b == kNone) return a == kNone ? b : a;
  return preference_[b] < preference_[a] ? b : a;
}

void LongestWithin::build(size_t index) {
  Node& node = nodes_[index];
  const size_t n = node.by_last.size();
  node.winner.assign(2 * n, kNone);
  std::copy(node.by_last.begin(), node.by_last.end(), node.winner.begin() + static_cast<std::ptrdiff_t>(n));
  for (size_t i = n; i-- > 1;) node.winner[i] = better(node.winner[2 * i], node.winner[2 * i + 1]);
}

uint32_t LongestWithin::winner_until(const Node& node, int64_t end) const {
  const auto stop = std::upper_bound(node.by_last.begin(), node.by_last.end(), end,
                                     [&](int64_t task, uint32_t i) { return task < items_[i].last; });
  const size_t n = node.by_last.size();
  uint32_t best = kNone;
  for (size_t low = n, high = n + static_cast<size_t>(stop - node.by_last.begin()); low < high;
       low /= 2, high /= 2) {
    if (low % 2 == 1) best = better(best, node.winner[low++]);
    if (high % 2 == 1) best = better(best, node.winner[--high]);
  }
  return best;
}

uint32_t LongestWithin::find(int64_t begin, int64_t end) const {
  const auto starts = [&](int64_t task, bool after) {
    const auto place = std::partition_point(by_first_.begin(), by_first_.end(), [&](uint32_t i) {
      return after ? items_[i].first <= task : items_[i].first < task;
    });
    return static_cast<size_t>(place - by_first_.begin());
  };
  uint32_t best = kNone;
  for (size_t low = leaves_ + starts(begin, false), high = leaves_ + starts(end, true); low < high;
       low /= 2, high /= 2) {
    if (low % 2 == 1) best = better(best, winner_until(nodes_[low++], end));
    if (high % 2 == 1) best = better(best, winner_until(nodes_[--high], end));
  }
  return best;
}

void LongestWithin::remove(uint32_t item) {
  const auto by = [&](auto key) {
    return [this, key](uint32_t a, uint32_t b) {
      return std::tuple(key(items_[a]), a) < std::tuple(key(items_[b]), b);
    };
  };
  const auto rank =
      std::lower_bound(by_first_.begin(), by_first_.end(), item, by([](const Item& i) { return i.first; }));
  for (size_t index = leaves_ + static_cast<size_t>(rank - by_first_.begin()); index >= 1; index /= 2) {
    Node& node = nodes_[index];
    const size_t n = node.by_last.size();
    const auto place = std::lower_bound(node.by_last.begin(), node.by_last.end(), item,
                                        by([](const Item& i) { return i.last; }));
    size_t i = n + static_cast<size_t>(place - node.by_last.begin());
    node.winner[i] = kNone;
    for (i /= 2; i >= 1; i /= 2) node.winner[i] = better(node.winner[2 * i], node.winner[2 * i + 1]);
  }
}

}  // namespace vellum::planner::detail
