// Finds the longest-lived item whose lifetime is within a window of time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../problem.hpp"
#include "../trees.hpp"

namespace vellum::planner::detail {

// A merge-sort tree over the items by first task; each node has its items by last task, with a tournament
// among them. Queries and removals take O(log^2 n).
class LongestWithin {
 public:
  explicit LongestWithin(std::span<const Item> items);

  // Returns the longest-lived item with first >= begin and last <= end, among equals the largest. Returns
  // kNone if there is none.
  uint32_t find(int64_t begin, int64_t end) const;
  void remove(uint32_t item);

 private:
  struct Node {
    std::vector<uint32_t> by_last;  // items
    std::vector<uint32_t> winner;   // a tree over by_last, the leaves in its second half
  };

  uint32_t better(uint32_t a, uint32_t b) const;  // either may be kNone
  uint32_t winner_until(const Node& node, int64_t end) const;
  void build(size_t index);

  std::span<const Item> items_;
  std::vector<uint32_t> by_first_;
  std::vector<uint32_t> preference_;  // per item: its rank, longest first
  size_t leaves_;
  std::vector<Node> nodes_;
};

}  // namespace vellum::planner::detail
