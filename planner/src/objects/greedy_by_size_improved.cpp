// Greedy by size improved (Pisarchyk & Lee 2020, section 4.4). Tensors are assigned in stages that the
// positional maxima divide. Within a stage the pair of tensor and object whose lifetimes are closest in time
// is assigned first, so that little free time remains between them.
#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

#include "../bounds.hpp"
#include "../orders.hpp"
#include "assignment.hpp"
#include "free_gaps.hpp"
#include "object_pool.hpp"

namespace vellum::planner::detail {
namespace {

// Tensors of a positional maximum's size form a stage, and so do those between two neighbouring maxima.
std::vector<Order> stages(const RecordClass& records) {
  std::vector<uint64_t> maxima = positional_maxima(records);
  maxima.erase(std::unique(maxima.begin(), maxima.end()), maxima.end());
  std::vector<Order> stages(2 * maxima.size() + 1);
  for (const uint32_t i : by_size(records.items)) {
    const uint64_t bytes = records.items[i].bytes;
    const auto reached = std::lower_bound(maxima.begin(), maxima.end(), bytes, std::greater<>());
    const auto above = static_cast<size_t>(reached - maxima.begin());
    const bool equal = reached != maxima.end() && *reached == bytes;
    stages[2 * above + (equal ? 1 : 0)].push_back(i);
  }
  return stages;
}

// The unassigned tensors of a stage, searchable by gap.
class Waiting {
 public:
  Waiting(std::span<const Item> items, const Order& stage)
      : items_(items), by_first_(stage), by_last_(stage), last_(stage.size()), first_(stage.size()) {
    std::sort(by_first_.begin(), by_first_.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(items[a].first, a) < std::tuple(items[b].first, b);
    });
    std::sort(by_last_.begin(), by_last_.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(items[a].last, a) < std::tuple(items[b].last, b);
    });
    for (size_t rank = 0; rank < stage.size(); ++rank) {
      last_.set(rank, -items[by_first_[rank]].last);
      first_.set(rank, items[by_last_[rank]].first);
    }
  }

  void remove(uint32_t item) {
    last_.set(rank_of(by_first_, item, [](const Item& i) { return i.first; }), MaxTree::kEmpty);
    first_.set(rank_of(by_last_, item, [](const Item& i) { return i.last; }), MaxTree::kEmpty);
  }

  // The tensor inside (begin, end) that starts soonest after begin.
  uint32_t nearest_to_begin(int64_t begin, int64_t end) const {
    const auto from = std::upper_bound(by_first_.begin(), by_first_.end(), begin,
                                       [&](int64_t task, uint32_t i) { return task < items_[i].first; });
    const uint32_t rank = last_.find_first(static_cast<size_t>(from - by_first_.begin()), -end);
    return rank == kNone ? kNone : by_first_[rank];
  }

  // The tensor inside (begin, end) that ends latest before end.
  uint32_t nearest_to_end(int64_t begin, int64_t end) const {
    const auto to = std::lower_bound(by_last_.begin(), by_last_.end(), end,
                                     [&](uint32_t i, int64_t task) { return items_[i].last < task; });
    const uint32_t rank = first_.find_last(static_cast<size_t>(to - by_last_.begin()), begin);
    return rank == kNone ? kNone : by_last_[rank];
  }

 private:
  template <typename Key>
  size_t rank_of(const Order& order, uint32_t item, Key key) const {
    const auto found = std::lower_bound(order.begin(), order.end(), item, [&](uint32_t a, uint32_t b) {
      return std::tuple(key(items_[a]), a) < std::tuple(key(items_[b]), b);
    });
    return static_cast<size_t>(found - order.begin());
  }

  std::span<const Item> items_;
  Order by_first_, by_last_;
  MaxTree last_;   // minus the last task, at rank by first
  MaxTree first_;  // the first task, at rank by last
};

// Assigns the tensors of byte classes in O(n log n). A heap holds for each tensor its tightest gap at the
// time it was last searched, and for each side of each later gap the tensor nearest to it. The key of some
// entry is a bound for every pair that is possible now, because new pairs appear only with new gaps. An entry
// whose gap or tensor no longer exists is searched again when it reaches the top.
class StagedPlacement {
 public:
  explicit StagedPlacement(const RecordClass& records)
      : items_(records.items),
        gaps_(items_),
        placed_(items_.size(), false),
        object_of_(items_.size(), kNone) {}

  void place(const Order& stage) {
    Waiting waiting(items_, stage);
    heap_ = {};
    for (const uint32_t i : stage) push_tensor(i);
    auto largest = stage.begin();
    for (size_t left = stage.size(); left > 0;) {
      if (heap_.empty()) {
        while (placed_[*largest]) ++largest;
        put(waiting, {}, *largest);
        --left;
        continue;
      }
      const Entry entry = heap_.top();
      heap_.pop();
      const bool gap_exists = gaps_.exists(entry.gap);
      if (gap_exists && !placed_[entry.item]) {
        put(waiting, entry.gap, entry.item);
        --left;
      } else if (entry.side == Side::tensor) {
        if (!placed_[entry.item]) push_tensor(entry.item);
      } else if (gap_exists) {
        push_side(waiting, entry.gap, entry.side);
      }
    }
  }

  ObjectAssignment result() && { return std::move(object_of_); }

 private:
  enum class Side { tensor, begin, end };
  struct Entry {
    int64_t distance;
    uint32_t item;
    Gap gap;
    Side side;
    auto key() const { return std::tuple(distance, item, gap.left, gap.right, side); }
    bool operator<(const Entry& other) const { return key() > other.key(); }  // nearest on top
  };

  void push_tensor(uint32_t item) {
    if (const auto found = gaps_.tightest(item))
      heap_.push({found->distance, item, found->gap, Side::tensor});
  }

  void push_side(const Waiting& waiting, const Gap& gap, Side side) {
    const int64_t begin = gaps_.begin(gap), end = gaps_.end(gap);
    if (side == Side::begin) {
      const uint32_t item = waiting.nearest_to_begin(begin, end);
      if (item != kNone) heap_.push({items_[item].first - begin, item, gap, side});
    } else {
      const uint32_t item = waiting.nearest_to_end(begin, end);
      if (item != kNone) heap_.push({end - items_[item].last, item, gap, side});
    }
  }

  void put(Waiting& waiting, const Gap& gap, uint32_t item) {
    const uint32_t neighbour = gap.left != kNone ? gap.left : gap.right;
    object_of_[item] = neighbour != kNone ? object_of_[neighbour] : objects_++;
    placed_[item] = true;
    waiting.remove(item);
    const auto [before, after] = gaps_.fill(gap, item);
    for (const Gap& made : {before, after}) {
      if (made.left != kNone) push_side(waiting, made, Side::begin);
      if (made.right != kNone) push_side(waiting, made, Side::end);
    }
  }

  std::span<const Item> items_;
  FreeGaps gaps_;
  std::vector<bool> placed_;
  ObjectAssignment object_of_;
  uint32_t objects_ = 0;
  std::priority_queue<Entry> heap_;
};

// For extents the cost of growing takes precedence over the distance in time, and both depend on the object,
// so every pair is compared: O(m * objects) for a stage of m tensors, and O(m) more for each tensor assigned.
class ExtentPlacement {
 private:
  struct Choice {
    uint64_t growth = std::numeric_limits<uint64_t>::max();
    int64_t distance = Timeline::kUnbounded;
    uint32_t object = kNone;
    auto key() const { return std::tuple(growth, distance, object); }
  };

 public:
  explicit ExtentPlacement(const RecordClass& records)
      : items_(records.items), pool_(records), object_of_(items_.size(), kNone) {}

  void place(Order stage) {
    std::vector<Choice> choices(items_.size());
    for (const uint32_t i : stage) choices[i] = best_of_all(i);
    while (!stage.empty()) {
      const auto nearest = std::min_element(stage.begin(), stage.end(), [&](uint32_t a, uint32_t b) {
        return choices[a].key() < choices[b].key();  // the first, so the largest, among equals
      });
      const uint32_t item = choices[*nearest].object == kNone ? stage.front() : *nearest;
      const uint32_t object = choices[item].object;
      if (object == kNone) {
        object_of_[item] = pool_.put_in_new(items_[item]);
      } else {
        pool_.put(object, items_[item]);
        object_of_[item] = object;
      }
      stage.erase(std::find(stage.begin(), stage.end(), item));
      for (const uint32_t i : stage) update(i, object_of_[item], choices[i]);
    }
  }

  ObjectAssignment result() && { return std::move(object_of_); }

 private:
  Choice choice(uint32_t item, uint32_t object) const {
    const auto fit = pool_.fit(object, items_[item]);
    if (!fit) return {};
    return {fit->growth, *pool_.gap(object, items_[item]), object};
  }

  Choice best_of_all(uint32_t item) const {
    Choice best;
    for (uint32_t object = 0; object < pool_.size(); ++object) {
      best = std::min(best, choice(item, object),
                      [](const Choice& a, const Choice& b) { return a.key() < b.key(); });
    }
    return best;
  }

  // Only `changed` differs from the time of the choice.
  void update(uint32_t item, uint32_t changed, Choice& best) const {
    const Choice now = choice(item, changed);
    if (now.key() <= best.key()) {
      best = now;
    } else if (best.object == changed) {
      best = best_of_all(item);
    }
  }

  std::span<const Item> items_;
  ObjectPool pool_;
  ObjectAssignment object_of_;
};

template <typename Placement>
ObjectAssignment place_in_stages(const RecordClass& records) {
  Placement placement(records);
  for (const Order& stage : stages(records)) placement.place(stage);
  return std::move(placement).result();
}

}  // namespace

ObjectAssignment objects_greedy_by_size_improved(const RecordClass& records) {
  return records.one_dimensional() ? place_in_stages<StagedPlacement>(records)
                                   : place_in_stages<ExtentPlacement>(records);
}

}  // namespace vellum::planner::detail
