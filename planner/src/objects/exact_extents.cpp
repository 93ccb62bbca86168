// Exact shared textures, whose extents need not be nested.
//
// Tensors are placed in the order of their first tasks, each in every object that is free and in a new one. A
// state is what later tensors can tell apart of a partial plan: the extent of each object and the tensor that
// is still in it. Partial plans of one state are one, so a layer, the states after a number of tensors, stays
// small where few tensors are live at once.
//
//   tensors  A A A . . .     after A, B and C:  {2x8 with B, 4x4 with C}   A and C share
//            . B B B B .                        {4x8 with B, 2x4 with C}   A and B would, but meet
//            . . . C C C                        {2x4 free, 2x8 with B, 4x4 with C}
//
// Three rules leave states out, and the last alone may lose the best plan:
//   - its lower bound is not below the best plan;
//   - another state of the layer dominates it: it has the same live tensors, and each of its objects has one
//     of the other's, another one each, that covers it. What completes the other one completes it for less;
//   - the layer is full. Then those of the least bounds are kept, and the least bound of the others limits
//     what is proved. The search starts with short layers, for better plans, and repeats with longer ones.
#include "exact_extents.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "../bounds.hpp"
#include "../orders.hpp"

namespace vellum::planner::detail {
namespace {

constexpr size_t kMostRecords = 1000, kMostObjects = 12;
constexpr size_t kFirstLayer = 64, kLongestLayer = 1u << 17;
constexpr size_t kMostSteps = 8u << 20;  // of all layers, 8 bytes each
constexpr size_t kComparedStates = 48;   // for each state, to find one that dominates it
constexpr size_t kMoments = 6;           // beside the next one
constexpr uint32_t kFree = UINT32_MAX;

using ExtentId = uint32_t;

// The extents of objects, by number, with their bytes and covers.
class Extents {
 public:
  explicit Extents(const RecordClass& records) : records_(records) {}

  ExtentId id_of(const Extent& extent) {
    const auto [entry, is_new] = ids_.try_emplace(extent, static_cast<ExtentId>(extents_.size()));
    if (is_new) {
      extents_.push_back(extent);
      bytes_.push_back(records_.bytes_of(extent));
    }
    return entry->second;
  }
  ExtentId cover_of(ExtentId a, ExtentId b) {
    if (a == b) return a;
    const auto [entry, is_new] = covers_.try_emplace(uint64_t{std::min(a, b)} << 32 | std::max(a, b), 0);
    if (is_new) entry->second = id_of(cover(extents_[a], extents_[b]));
    return entry->second;
  }
  bool covers(ExtentId large, ExtentId small) { return cover_of(large, small) == large; }
  uint64_t bytes(ExtentId id) const { return bytes_[id]; }

 private:
  const RecordClass& records_;
  std::map<Extent, ExtentId> ids_;
  std::vector<Extent> extents_;
  std::vector<uint64_t> bytes_;
  std::unordered_map<uint64_t, ExtentId> covers_;
};

struct Object {
  ExtentId extent = 0;
  uint32_t item = kFree;  // the tensor in it, by order
  uint32_t number = 0;    // in the plan; no part of the state

  bool operator==(const Object& other) const { return extent == other.extent && item == other.item; }
};

// The placement of one tensor.
struct Step {
  uint32_t before = 0;  // that of the tensor before, in its layer
  uint32_t object = 0;
};

struct State {
  std::vector<Object> objects;  // sorted by tensor, then by extent
  uint64_t cost = 0, bound = 0;
  Step step;
};

struct HashOfObjects {
  size_t operator()(const std::vector<Object>* objects) const {
    uint64_t hash = 0;
    for (const Object& object : *objects)
      hash = (hash ^ (uint64_t{object.extent} << 32 | object.item)) * 0x9e3779b97f4a7c15u + (hash >> 29);
    return static_cast<size_t>(hash);
  }
};
struct AreEqual {
  bool operator()(const std::vector<Object>* a, const std::vector<Object>* b) const { return *a == *b; }
};

bool is_less(const Object& a, const Object& b) {
  return std::tie(a.item, a.extent) < std::tie(b.item, b.extent);
}

// The tensors that are live at a task, by order.
struct Moment {
  int64_t task = 0;
  std::vector<uint32_t> live;
};

class ExtentSearch {
 public:
  ExtentSearch(const RecordClass& records, ObjectAssignment& best, uint64_t& bound)
      : records_(records), extents_(records), best_(best), bound_(bound), order_(records.items.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
      const Item &x = records.items[a], &y = records.items[b];
      return std::tie(x.first, y.bytes, a) < std::tie(y.first, x.bytes, b);
    });
    for (const uint32_t i : order_) extent_of_.push_back(extents_.id_of(records.items[i].extent));
    std::map<uint32_t, ExtentId> objects;
    for (size_t i = 0; i < best.size(); ++i) {
      const ExtentId own = extents_.id_of(records.items[i].extent);
      const auto [entry, is_new] = objects.try_emplace(best[i], own);
      if (!is_new) entry->second = extents_.cover_of(entry->second, own);
    }
    for (const auto& [number, extent] : objects) best_cost_ += extents_.bytes(extent);
    find_bounds();
  }

  void run(uint64_t target, SearchBudget& budget) {
    for (size_t longest = kFirstLayer; longest <= kLongestLayer; longest *= 4) {
      if (best_cost_ <= std::max(bound_, target) || budget.is_spent()) return;
      if (!search(longest, budget)) return;
    }
  }

 private:
  const Item& item(size_t at) const { return records_.items[order_[at]]; }

  // Per place in the order: the positional maxima of the tensors that are live from there on.
  void find_bounds() {
    RecordClass rest = records_;
    for (size_t at = 0; at < order_.size(); ++at) {
      if (at == 0 || item(at).first != item(at - 1).first) {
        std::erase_if(rest.items, [&](const Item& other) { return other.last < item(at).first; });
        maxima_.push_back(positional_maxima(rest));
      } else {
        maxima_.push_back(maxima_.back());
      }
    }
    maxima_.emplace_back();
    find_moments();
  }

  void find_moments() {
    std::vector<uint64_t> bytes;
    for (size_t at = 0; at < order_.size(); ++at) {
      if (at + 1 < order_.size() && item(at + 1).first == item(at).first) continue;
      Moment& moment = moments_.emplace_back(Moment{item(at).first, {}});
      bytes.push_back(0);
      for (uint32_t other = 0; other <= at; ++other)
        if (item(other).last >= moment.task) {
          moment.live.push_back(other);
          bytes.back() += extents_.bytes(extent_of_[other]);
        }
    }
    moments_of_.resize(order_.size() + 1);
    for (size_t at = 0; at < order_.size(); ++at) {
      std::vector<uint32_t>& of = moments_of_[at];
      for (uint32_t m = 0; m < moments_.size(); ++m)
        if (moments_[m].task >= item(at).first) of.push_back(m);
      const auto middle = of.begin() + static_cast<ptrdiff_t>(std::min<size_t>(of.size(), 1));
      const auto last = of.begin() + static_cast<ptrdiff_t>(std::min<size_t>(of.size(), 1 + kMoments));
      std::partial_sort(middle, last, of.end(), [&](uint32_t a, uint32_t b) {
        return std::tie(bytes[b], a) < std::tie(bytes[a], b);
      });
      of.erase(last, of.end());
    }
  }

  // A lower bound of the plans that complete the state. Sorted by size, their objects are no smaller than
  // those of the state, nor than the positional maxima. At each moment the live tensors need objects of their
  // own.
  uint64_t bound_of(const State& state, size_t at) {
    sizes_.clear();
    for (const Object& object : state.objects) sizes_.push_back(extents_.bytes(object.extent));
    std::sort(sizes_.begin(), sizes_.end(), std::greater<>());
    const std::vector<uint64_t>& maxima = maxima_[at];
    uint64_t sum = 0;
    for (size_t k = 0; k < std::max(sizes_.size(), maxima.size()); ++k)
      sum += std::max(k < sizes_.size() ? sizes_[k] : 0, k < maxima.size() ? maxima[k] : 0);
    for (const uint32_t moment : moments_of_[at]) {
      if (sum >= best_cost_) break;
      sum = std::max(sum, state.cost + growth_until(state, at, moments_[moment]));
    }
    return sum;
  }

  // The least bytes that the objects gain until task `task`, at which each of the tensors that are live then
  // needs an object of its own; those before `at` are in one already.
  uint64_t growth_until(const State& state, size_t at, const Moment& moment) {
    objects_.clear();
    for (const Object& object : state.objects)
      if (object.item == kFree || item(object.item).last < moment.task) objects_.push_back(object.extent);
    const size_t count = objects_.size();
    // By the set of objects that are taken.
    least_.assign(size_t{1} << count, kNever);
    least_[0] = 0;
    for (const uint32_t next : moment.live) {
      if (next < at) continue;
      const uint64_t own = extents_.bytes(extent_of_[next]);
      grown_.clear();
      for (const ExtentId object : objects_)
        grown_.push_back(extents_.bytes(extents_.cover_of(object, extent_of_[next])) -
                         extents_.bytes(object));
      for (size_t taken = least_.size(); taken-- > 0;) {
        const uint64_t so_far = least_[taken];
        if (so_far == kNever) continue;
        least_[taken] = so_far + own;
        for (size_t k = 0; k < count; ++k)
          if ((taken >> k & 1) == 0) {
            uint64_t& known = least_[taken | size_t{1} << k];
            known = std::min(known, so_far + grown_[k]);
          }
      }
    }
    return *std::min_element(least_.begin(), least_.end());
  }

  // The state after tensor `at` in object k of `from`, or in a new one. `index`: that of `from` in its layer.
  State placed(const State& from, uint32_t index, size_t at, size_t k) {
    State next{from.objects, from.cost, 0, {index, 0}};
    if (k == from.objects.size()) {
      next.objects.push_back({extent_of_[at], kFree, static_cast<uint32_t>(k)});
    } else {
      next.cost -= extents_.bytes(next.objects[k].extent);
      next.objects[k].extent = extents_.cover_of(next.objects[k].extent, extent_of_[at]);
    }
    Object& object = next.objects[k];
    next.cost += extents_.bytes(object.extent);
    object.item = static_cast<uint32_t>(at);
    next.step.object = object.number;
    std::sort(next.objects.begin(), next.objects.end(), is_less);
    next.bound = std::max(from.bound, bound_of(next, at + 1));
    return next;
  }

  // Adds what follows a state by tensor `at`, as far as it may be better than the best plan. Returns the
  // bound of what it cannot add.
  uint64_t extend(const State& state, uint32_t index, size_t at, std::vector<State>& next) {
    for (size_t k = 0; k < state.objects.size(); ++k) {
      if (state.objects[k].item != kFree) continue;
      // Equal free objects are neighbours, and one of them stands for all.
      if (k > 0 && state.objects[k] == state.objects[k - 1]) continue;
      State child = placed(state, index, at, k);
      if (child.bound < best_cost_) next.push_back(std::move(child));
    }
    if (state.objects.size() == kMostObjects) return state.bound;
    State child = placed(state, index, at, state.objects.size());
    if (child.bound < best_cost_) next.push_back(std::move(child));
    return kNever;
  }

  // Whether each object of `a` is covered by another one of `b`, with the same tensor if there is one. What
  // is found greedily is true, but not all that is true is found.
  bool dominates(const State& a, const State& b) {
    if (a.objects.size() > b.objects.size()) return false;
    uint32_t taken = 0;
    for (const Object& own : a.objects) {
      size_t found = b.objects.size();
      for (size_t k = 0; k < b.objects.size(); ++k) {
        const Object& other = b.objects[k];
        if ((taken >> k & 1) != 0 || other.item != own.item || !extents_.covers(other.extent, own.extent))
          continue;
        if (found == b.objects.size() ||
            extents_.bytes(other.extent) < extents_.bytes(b.objects[found].extent))
          found = k;
      }
      if (found == b.objects.size()) return false;
      taken |= 1u << found;
    }
    return true;
  }

  // Leaves one of equal states, those that no other one dominates as far as they are compared, and of these
  // the `longest` of least bounds. Returns the least bound of those that the length leaves out.
  uint64_t keep_best(std::vector<State>& layer, size_t longest, SearchBudget& budget) {
    std::sort(layer.begin(), layer.end(), [](const State& a, const State& b) {
      return std::tie(a.bound, a.cost) < std::tie(b.bound, b.cost);
    });
    std::unordered_set<const std::vector<Object>*, HashOfObjects, AreEqual> seen;
    std::vector<State> kept;
    kept.reserve(std::min(layer.size(), longest));  // so that `seen` may point into it
    uint64_t left_out = kNever;
    for (State& state : layer) {
      if (kept.size() == longest) {
        left_out = state.bound;
        break;
      }
      if (seen.contains(&state.objects)) continue;
      const size_t compared = std::min(kept.size(), kComparedStates);
      budget.spend(static_cast<int64_t>(8 * compared));
      const auto is_worse = [&](const State& other) { return dominates(other, state); };
      if (std::any_of(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(compared), is_worse) ||
          std::any_of(kept.end() - static_cast<ptrdiff_t>(compared), kept.end(), is_worse))
        continue;
      kept.push_back(std::move(state));
      seen.insert(&kept.back().objects);
    }
    layer = std::move(kept);
    return left_out;
  }

  // Returns whether a longer layer may do better: this one left something out, and the budget is not spent.
  bool search(size_t longest, SearchBudget& budget) {
    std::vector<State> layer(1);
    std::vector<std::vector<Step>> steps;
    uint64_t left_out = kNever;
    size_t step_count = 0;
    for (size_t at = 0; at < order_.size() && !layer.empty(); ++at) {
      for (State& state : layer) {
        for (Object& object : state.objects)
          if (object.item != kFree && item(object.item).last < item(at).first) object.item = kFree;
        std::sort(state.objects.begin(), state.objects.end(), is_less);
      }
      std::vector<State> next;
      for (uint32_t i = 0; i < layer.size(); ++i) {
        if (!budget.spend(int64_t{32} + (int64_t{16} << layer[i].objects.size())) ||
            step_count > kMostSteps) {
          for (const State& state : layer) left_out = std::min(left_out, state.bound);
          prove(left_out);
          return false;
        }
        left_out = std::min(left_out, extend(layer[i], i, at, next));
      }
      left_out = std::min(left_out, keep_best(next, longest, budget));
      std::vector<Step>& made = steps.emplace_back();
      for (const State& state : next) made.push_back(state.step);
      step_count += made.size();
      layer = std::move(next);
    }
    if (!layer.empty()) keep_plan(steps, layer);
    prove(left_out);
    return left_out < best_cost_;
  }

  // All plans that are smaller than the best one have at least `left_out` bytes.
  void prove(uint64_t left_out) { bound_ = std::max(bound_, std::min(left_out, best_cost_)); }

  void keep_plan(const std::vector<std::vector<Step>>& steps, const std::vector<State>& last) {
    const auto least = std::min_element(last.begin(), last.end(),
                                        [](const State& a, const State& b) { return a.cost < b.cost; });
    if (least->cost >= best_cost_) return;
    best_cost_ = least->cost;
    uint32_t index = static_cast<uint32_t>(least - last.begin());
    for (size_t at = order_.size(); at-- > 0;) {
      best_[order_[at]] = steps[at][index].object;
      index = steps[at][index].before;
    }
  }

  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  const RecordClass& records_;
  Extents extents_;
  ObjectAssignment& best_;
  uint64_t& bound_;
  uint64_t best_cost_ = 0;
  std::vector<uint32_t> order_;                // items
  std::vector<ExtentId> extent_of_;            // by order
  std::vector<std::vector<uint64_t>> maxima_;  // by order
  std::vector<Moment> moments_;
  std::vector<std::vector<uint32_t>> moments_of_;  // by order: the next one, and those of most bytes after it
  std::vector<uint64_t> sizes_, least_, grown_;    // of bound_of() and growth_until()
  std::vector<ExtentId> objects_;
};

}  // namespace

void search_extents(const RecordClass& records, ObjectAssignment& best, uint64_t& bound, uint64_t target,
                    SearchBudget& budget) {
  if (records.items.size() > kMostRecords || budget.is_spent()) return;
  ExtentSearch(records, best, bound).run(target, budget);
}

}  // namespace vellum::planner::detail
