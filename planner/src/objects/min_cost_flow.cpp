// Minimum-cost flow (Lee et al. 2019, arXiv 1907.01989, section 4.1). Each tensor (the taker) reuses the
// memory of one that is dead (the giver), or gets new memory. Reuse costs the bytes by which the memory
// grows, new memory costs all of its bytes. The memory of each tensor is reused at most once. The cheapest
// succession is a minimum-cost flow through the bipartite graph of givers and takers; here it is an
// assignment problem, solved by shortest augmenting paths with potentials (Jonker & Volgenant, Computing 38,
// 1987). The cost is an estimate: an object may have grown beyond the giver's size.
//
// This is a solver of our own instead of LEMON's network simplex, because LEMON would be the planner's only
// dependency, also on phones, for the hundred lines below.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "../orders.hpp"
#include "../trees.hpp"
#include "assignment.hpp"

namespace vellum::planner::detail {
namespace {

class Succession {
 public:
  explicit Succession(const RecordClass& records)
      : records_(records),
        items_(records.items),
        by_last_(items_.size()),
        extent_of_(items_.size()),
        giver_of_(items_.size(), kNone),
        taker_of_(items_.size(), kNone),
        taker_potential_(items_.size(), 0),
        giver_potential_(items_.size(), 0) {
    std::iota(by_last_.begin(), by_last_.end(), 0u);
    std::sort(by_last_.begin(), by_last_.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(items_[a].last, a) < std::tuple(items_[b].last, b);
    });
    number_extents();
    for (const uint32_t taker : in_order(items_)) {
      if (is_given_up()) return;
      supply(taker);
    }
  }

  // The steps were not enough: takers are without memory.
  bool is_given_up() const { return steps_ > kMinCostFlowMostSteps; }

  // Where an object has grown so much that reusing it would cost as much as a new one, a new one is made.
  ObjectAssignment objects() const {
    ObjectAssignment object_of(items_.size());
    std::vector<Extent> extents;
    for (const uint32_t i : in_order(items_)) {
      const uint32_t giver = giver_of_[i];
      const bool take_over = giver != kNone && growth(extents[object_of[giver]], i) < items_[i].bytes;
      if (!take_over) extents.emplace_back();
      object_of[i] = take_over ? object_of[giver] : static_cast<uint32_t>(extents.size()) - 1;
      extents[object_of[i]] = cover(extents[object_of[i]], items_[i].extent);
    }
    return object_of;
  }

 private:
  static constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();
  static constexpr size_t kMostTabledExtents = 1024;  // 8 MiB
  static constexpr int64_t kFar = std::numeric_limits<int64_t>::max();

  int64_t bytes(uint32_t item) const { return static_cast<int64_t>(items_[item].bytes); }

  // Returns the bytes by which memory of that extent grows to hold the tensor too.
  uint64_t growth(const Extent& memory, uint32_t taker) const {
    return records_.bytes_of(cover(memory, items_[taker].extent)) - records_.bytes_of(memory);
  }

  void number_extents() {
    std::map<Extent, uint32_t> numbers;
    for (size_t i = 0; i < items_.size(); ++i) {
      const auto next = static_cast<uint32_t>(numbers.size());
      extent_of_[i] = numbers.try_emplace(items_[i].extent, next).first->second;
    }
    extents_ = numbers.size();
    if (extents_ <= kMostTabledExtents) growths_.assign(extents_ * extents_, kUnknown);
  }

  uint64_t growth(uint32_t giver, uint32_t taker) {
    if (growths_.empty()) return growth(items_[giver].extent, taker);
    uint64_t& known = growths_[extent_of_[giver] * extents_ + extent_of_[taker]];
    if (known == kUnknown) known = growth(items_[giver].extent, taker);
    return known;
  }

  // The search tree of one augmentation: distances in reduced costs from the taker without a giver.
  struct Tree {
    std::vector<int64_t> distance;     // per giver
    std::vector<uint32_t> reached_by;  // per giver: the taker
    std::vector<uint32_t> givers;      // settled, in order
    std::vector<uint8_t> settled;      // per giver
    int64_t own = kFar;                // the nearest end with new memory,
    uint32_t own_taker = kNone;        // and its taker
  };

  void grow(Tree& tree, uint32_t taker, int64_t distance) {
    const int64_t base = distance - taker_potential_[taker];
    if (base + bytes(taker) < tree.own) {
      tree.own = base + bytes(taker);
      tree.own_taker = taker;
    }
    for (const uint32_t giver : by_last_) {
      if (items_[giver].last >= items_[taker].first) break;
      steps_ += 1 + records_.widths.size();
      if (tree.settled[giver]) continue;
      const uint64_t cost = growth(giver, taker);
      if (cost >= items_[taker].bytes) continue;  // new memory costs no more
      const int64_t through = base + static_cast<int64_t>(cost) - giver_potential_[giver];
      if (through < tree.distance[giver]) {
        tree.distance[giver] = through;
        tree.reached_by[giver] = taker;
      }
    }
  }

  // Finds the cheapest memory for the taker, reassigning other takers where that is cheaper.
  void supply(uint32_t taker) {
    const size_t n = items_.size();
    Tree tree{std::vector<int64_t>(n, kFar), std::vector<uint32_t>(n, kNone), {}, std::vector<uint8_t>(n, 0)};
    grow(tree, taker, 0);
    for (;;) {
      uint32_t nearest = kNone;
      steps_ += n;
      for (const uint32_t giver : by_last_) {
        if (tree.settled[giver] || tree.distance[giver] == kFar) continue;
        if (nearest == kNone || tree.distance[giver] <= tree.distance[nearest])
          nearest = giver;  // the latest of equals
      }
      if (nearest == kNone || tree.own < tree.distance[nearest]) {
        update_potentials(tree, taker, tree.own);
        hand_over(tree, taker, tree.own_taker, kNone);
        return;
      }
      tree.settled[nearest] = 1;
      tree.givers.push_back(nearest);
      const uint32_t next = taker_of_[nearest];
      if (next == kNone) {
        update_potentials(tree, taker, tree.distance[nearest]);
        hand_over(tree, taker, tree.reached_by[nearest], nearest);
        return;
      }
      grow(tree, next, tree.distance[nearest]);
    }
  }

  void update_potentials(const Tree& tree, uint32_t root, int64_t end) {
    taker_potential_[root] += end;
    for (const uint32_t giver : tree.givers) {
      const int64_t slack = end - tree.distance[giver];
      giver_potential_[giver] -= slack;
      if (taker_of_[giver] != kNone) taker_potential_[taker_of_[giver]] += slack;
    }
  }

  // Assigns the giver to `taker`, its former giver to the taker that reached it, and so on back to the root.
  void hand_over(const Tree& tree, uint32_t root, uint32_t taker, uint32_t giver) {
    for (;;) {
      const uint32_t former = giver_of_[taker];
      giver_of_[taker] = giver;
      if (giver != kNone) taker_of_[giver] = taker;
      if (taker == root) return;
      giver = former;
      taker = tree.reached_by[former];
    }
  }

  const RecordClass& records_;
  const std::vector<Item>& items_;
  std::vector<uint32_t> by_last_;
  // Thousands of tensors have a few dozen different extents. The growth of each pair of them is computed
  // once.
  std::vector<uint32_t> extent_of_;  // per tensor
  size_t extents_ = 0;
  std::vector<uint64_t> growths_;              // from an extent to another; empty if there are too many
  std::vector<uint32_t> giver_of_, taker_of_;  // kNone: new memory; not reused
  std::vector<int64_t> taker_potential_, giver_potential_;
  uint64_t steps_ = 0;  // pairs that were compared, at each width
};

}  // namespace

ObjectAssignment objects_min_cost_flow(const RecordClass& records) {
  // Potentials stay below the sum of all sizes.
  uint64_t sum = 0;
  for (const Item& item : records.items) sum += item.bytes;
  if (sum > static_cast<uint64_t>(std::numeric_limits<int64_t>::max() / 4))
    return objects_greedy_in_order(records);
  const Succession succession(records);
  return succession.is_given_up() ? objects_greedy_in_order(records) : succession.objects();
}

}  // namespace vellum::planner::detail
