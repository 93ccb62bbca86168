// Two segment trees over positions 0..n-1.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace vellum::planner::detail {

inline constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// Holds a value for each position and finds the nearest position whose value exceeds a limit. O(log n) each.
class MaxTree {
 public:
  static constexpr int64_t kEmpty = std::numeric_limits<int64_t>::min();

  explicit MaxTree(size_t n)
      : size_(n), leaves_(std::bit_ceil(std::max<size_t>(n, 1))), node_(2 * leaves_, kEmpty) {}

  void set(size_t position, int64_t value) {
    size_t i = leaves_ + position;
    node_[i] = value;
    for (i /= 2; i >= 1; i /= 2) node_[i] = std::max(node_[2 * i], node_[2 * i + 1]);
  }

  // The first position >= `from` with a value > `limit`, or kNone.
  uint32_t find_first(size_t from, int64_t limit) const {
    if (from >= size_) return kNone;
    size_t i = leaves_ + from;
    while (node_[i] <= limit) {
      while (i % 2 == 1) i /= 2;  // a right child (or the root): nothing more below its parent
      if (i == 0) return kNone;
      ++i;
    }
    while (i < leaves_) i = node_[2 * i] > limit ? 2 * i : 2 * i + 1;
    return static_cast<uint32_t>(i - leaves_);
  }

  // The last position < `end` with a value > `limit`, or kNone.
  uint32_t find_last(size_t end, int64_t limit) const {
    if (end == 0) return kNone;
    size_t i = leaves_ + end - 1;
    while (node_[i] <= limit) {
      while (i % 2 == 0) i /= 2;  // a left child: nothing before it below its parent
      if (i == 1) return kNone;
      --i;
    }
    while (i < leaves_) i = node_[2 * i + 1] > limit ? 2 * i + 1 : 2 * i;
    return static_cast<uint32_t>(i - leaves_);
  }

 private:
  size_t size_, leaves_;
  std::vector<int64_t> node_;
};

// Adds amounts to ranges and finds the maximum of a range. O(log n) each.
class RangeAddMax {
 public:
  explicit RangeAddMax(size_t n)
      : leaves_(std::bit_ceil(std::max<size_t>(n, 1))), max_(2 * leaves_), add_(2 * leaves_) {}

  // Positions first..last, both inclusive.
  void add(size_t first, size_t last, int64_t amount) { add(1, 0, leaves_ - 1, first, last, amount); }
  int64_t max() const { return max_[1]; }
  // Over positions first..last.
  int64_t max(size_t first, size_t last) const { return max(1, 0, leaves_ - 1, first, last); }

 private:
  int64_t max(size_t node, size_t low, size_t high, size_t first, size_t last) const {
    if (first > high || last < low) return std::numeric_limits<int64_t>::min();
    if (first <= low && high <= last) return max_[node];
    const size_t middle = (low + high) / 2;
    return std::max(max(2 * node, low, middle, first, last),
                    max(2 * node + 1, middle + 1, high, first, last)) +
           add_[node];
  }
  void add(size_t node, size_t low, size_t high, size_t first, size_t last, int64_t amount) {
    if (first > high || last < low) return;
    if (first <= low && high <= last) {
      max_[node] += amount;
      add_[node] += amount;
      return;
    }
    const size_t middle = (low + high) / 2;
    add(2 * node, low, middle, first, last, amount);
    add(2 * node + 1, middle + 1, high, first, last, amount);
    max_[node] = std::max(max_[2 * node], max_[2 * node + 1]) + add_[node];
  }

  size_t leaves_;
  std::vector<int64_t> max_, add_;
};

}  // namespace vellum::planner::detail
