// Exact shared objects: max-colouring of an interval graph.
//
// The cost of a plan is the sum of its objects' sizes, so the search visits vectors of sizes (each in falling
// order) by rising cost, beginning with the positional maxima, below which no plan exists. Dynamic
// programming over time (Colouring) decides whether a vector's objects suffice. The first vector that
// suffices is optimal.
//
// A vector that does not suffice is first raised, entry by entry, as far as it still does not suffice: then
// no vector below the result suffices. So any plan exceeds it in some entry, and the search branches on that
// entry. Where a raised vector does suffice and costs less than the best plan so far, that plan is kept: the
// search is anytime.
#include "exact.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

#include "../bounds.hpp"
#include "colouring.hpp"
#include "exact_extents.hpp"

namespace vellum::planner::detail {
namespace {

using Levels = std::vector<uint32_t>;  // per object its level in falling order; 0: there is no such object

bool is_below(const Levels& a, const Levels& b) {
  return std::equal(a.begin(), a.end(), b.begin(), std::less_equal<>());
}

class ObjectSearch {
 public:
  ObjectSearch(const RecordClass& records, std::vector<uint64_t> sizes, ObjectAssignment start)
      : sizes_(std::move(sizes)), best_(std::move(start)), colouring_(level_items(records, sizes_)) {
    const uint32_t count = best_.empty() ? 0 : *std::max_element(best_.begin(), best_.end()) + 1;
    for (const Item& item : records.items) level_.push_back(level_of(item.bytes));
    best_cost_ = cost(levels_of(best_, count));
    Levels lowest(Colouring::kMostObjects, 0);
    const auto maxima = positional_maxima(records);
    for (size_t i = 0; i < maxima.size(); ++i) lowest[i] = level_of(maxima[i]);
    Levels highest(lowest.size(), static_cast<uint32_t>(sizes_.size() - 1));
    push({cost(lowest), lowest, highest});
  }

  void run(uint64_t target, SearchBudget& budget) {
    while (!queue_.empty() && lower_bound() < best_cost_ && best_cost_ > target && !budget.is_spent()) {
      const Node node = queue_.top();
      const auto cut =
          std::find_if(cuts_.begin(), cuts_.end(), [&](const Levels& c) { return is_below(node.lowest, c); });
      budget.spend(static_cast<int64_t>(cuts_.size()) + 32);
      if (cut != cuts_.end()) {
        queue_.pop();
        branch(node, *cut);
        continue;
      }
      const auto verdict = test(node.lowest, budget);
      if (verdict == Colouring::Verdict::gave_up) return;
      if (verdict == Colouring::Verdict::does_not_fit) cuts_.push_back(raised(node.lowest, budget));
    }
    if (queue_.empty()) bound_ = best_cost_;
  }

  const ObjectAssignment& best() const { return best_; }
  uint64_t lower_bound() const { return queue_.empty() ? bound_ : std::min(queue_.top().cost, best_cost_); }

 private:
  // All vectors between two bounds: the rest of a branch.
  struct Node {
    uint64_t cost;  // of lowest
    Levels lowest, highest;
    bool operator<(const Node& other) const {  // the cheapest on top
      return std::tie(cost, lowest, highest) > std::tie(other.cost, other.lowest, other.highest);
    }
  };

  static uint32_t level_in(const std::vector<uint64_t>& sizes, uint64_t bytes) {
    return static_cast<uint32_t>(std::lower_bound(sizes.begin(), sizes.end(), bytes) - sizes.begin());
  }
  static std::vector<LevelItem> level_items(const RecordClass& records, const std::vector<uint64_t>& sizes) {
    std::vector<LevelItem> items;
    for (const Item& item : records.items)
      items.push_back({item.first, item.last, level_in(sizes, item.bytes)});
    return items;
  }
  uint32_t level_of(uint64_t bytes) const { return level_in(sizes_, bytes); }

  uint64_t cost(const Levels& levels) const {
    uint64_t sum = 0;
    for (const uint32_t level : levels) sum += sizes_[level];
    return sum;
  }

  void push(Node node) {
    if (node.cost < best_cost_) queue_.push(std::move(node));
  }

  // Any plan exceeds the cut in some entry: one branch for each, and each later branch may assume that the
  // earlier entries do not exceed it.
  void branch(const Node& node, const Levels& cut) {
    Levels highest = node.highest;
    for (size_t k = 0; k < cut.size(); ++k) {
      if (cut[k] + 1 < sizes_.size() && cut[k] < highest[k]) {
        Node child{0, node.lowest, highest};
        bool possible = true;
        for (size_t j = 0; j <= k; ++j) {
          child.lowest[j] = std::max(child.lowest[j], cut[k] + 1);
          possible = possible && child.lowest[j] <= child.highest[j];
        }
        child.cost = cost(child.lowest);
        if (possible) push(std::move(child));
      }
      highest[k] = std::min(highest[k], cut[k]);
      if (highest[k] < node.lowest[k]) return;
      if (cut[k] == 0) return;  // entries fall, so exceeding a later entry exceeds this one
    }
  }

  Colouring::Verdict test(const Levels& levels, SearchBudget& budget) {
    const auto objects = std::find(levels.begin(), levels.end(), 0u) - levels.begin();
    const auto verdict = colouring_.test(std::span(levels).first(static_cast<size_t>(objects)), budget);
    if (verdict == Colouring::Verdict::fits) keep_if_smaller(colouring_.assignment());
    return verdict;
  }

  // The objects need at most the allowed sizes.
  Levels levels_of(const ObjectAssignment& object_of, size_t count) const {
    Levels levels(count, 0);
    for (size_t i = 0; i < object_of.size(); ++i)
      levels[object_of[i]] = std::max(levels[object_of[i]], level_[i]);
    return levels;
  }

  void keep_if_smaller(const ObjectAssignment& object_of) {
    const Levels levels = levels_of(object_of, Colouring::kMostObjects);
    const uint64_t total = cost(levels);
    if (total >= best_cost_) return;
    best_cost_ = total;
    best_ = object_of;
    // Unused objects are removed, so that the numbers have no gaps.
    ObjectAssignment number(levels.size(), 0);
    for (size_t object = 1; object < levels.size(); ++object) {
      number[object] = number[object - 1] + (levels[object - 1] > 0 ? 1 : 0);
    }
    for (uint32_t& object : best_) object = number[object];
  }

  // Returns a maximal vector above `levels` that is not known to suffice; finds each entry by bisection.
  Levels raised(Levels levels, SearchBudget& budget) {
    for (size_t k = 0; k < levels.size(); ++k) {
      uint32_t low = levels[k];  // does not suffice
      uint32_t high =
          (k == 0 ? static_cast<uint32_t>(sizes_.size() - 1) : levels[k - 1]) + 1;  // not allowed
      while (high - low > 1) {
        Levels trial = levels;
        trial[k] = low + (high - low) / 2;
        (test(trial, budget) == Colouring::Verdict::does_not_fit ? low : high) = trial[k];
      }
      levels[k] = low;
      if (low == 0) break;
    }
    return levels;
  }

  std::vector<uint64_t> sizes_;  // by level; 0 first
  Levels level_;                 // per item
  ObjectAssignment best_;
  uint64_t best_cost_ = 0;
  uint64_t bound_ = 0;
  Colouring colouring_;
  std::priority_queue<Node> queue_;
  std::vector<Levels> cuts_;
};

// Returns a 0 and the distinct sizes in rising order; nothing if extents are not nested.
std::vector<uint64_t> nested_sizes(const RecordClass& records) {
  std::vector<const Item*> items;
  for (const Item& item : records.items) items.push_back(&item);
  std::sort(items.begin(), items.end(), [](const Item* a, const Item* b) {
    return std::tie(a->bytes, a->extent) < std::tie(b->bytes, b->extent);
  });
  std::vector<uint64_t> sizes = {0};
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0 && cover(items[i - 1]->extent, items[i]->extent) != items[i]->extent) return {};
    if (sizes.back() != items[i]->bytes) sizes.push_back(items[i]->bytes);
  }
  return sizes;
}

}  // namespace

ExactObjects improve_objects(const RecordClass& records, ObjectAssignment start, uint64_t target,
                             SearchBudget& budget) {
  const auto maxima = positional_maxima(records);
  const uint64_t bound = std::accumulate(maxima.begin(), maxima.end(), uint64_t{0});
  const std::vector<uint64_t> sizes = nested_sizes(records);
  if (sizes.empty()) {
    ExactObjects found{std::move(start), bound};
    search_extents(records, found.object_of, found.lower_bound, target, budget);
    return found;
  }
  if (maxima.size() > Colouring::kMostObjects || budget.is_spent()) return {std::move(start), bound};
  ObjectSearch search(records, sizes, std::move(start));
  search.run(target, budget);
  return {search.best(), std::max(bound, search.lower_bound())};
}

}  // namespace vellum::planner::detail
