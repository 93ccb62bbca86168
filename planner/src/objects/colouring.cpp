#include "colouring.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>

namespace vellum::planner::detail {
namespace {

constexpr size_t kMostStates = 4'000'000;  // in all layers together, 64 MB

uint64_t slot_at(uint64_t state, size_t object) { return state >> (4 * object) & 15; }
uint64_t with_slot(uint64_t state, size_t object, uint64_t slot) {
  return (state & ~(uint64_t{15} << (4 * object))) | slot << (4 * object);
}

// Inserts into the first `count` numbers, which are sorted.
void insert_sorted(std::array<uint8_t, Colouring::kMostObjects>& numbers, size_t count, uint8_t number) {
  for (; count > 0 && numbers[count - 1] > number; --count) numbers[count] = numbers[count - 1];
  numbers[count] = number;
}

}  // namespace

Colouring::Colouring(std::vector<LevelItem> items)
    : items_(std::move(items)), starts_(items_.size()), slot_(items_.size()), ended_(items_.size()) {
  std::iota(starts_.begin(), starts_.end(), 0u);
  std::sort(starts_.begin(), starts_.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(items_[a].first, ~items_[a].level, a) <
           std::tuple(items_[b].first, ~items_[b].level, b);
  });
  using End = std::pair<int64_t, uint8_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> live;
  std::vector<uint8_t> free_slots;
  for (uint8_t slot = 15; slot >= 1; --slot) free_slots.push_back(slot);
  for (size_t start = 0; start < starts_.size(); ++start) {
    const LevelItem& item = items_[starts_[start]];
    for (; !live.empty() && live.top().first < item.first; live.pop()) {
      ended_[start].push_back(live.top().second);
      free_slots.push_back(live.top().second);
    }
    if (free_slots.empty()) {
      too_many_live_ = true;
      return;
    }
    slot_[starts_[start]] = free_slots.back();
    live.emplace(item.last, free_slots.back());
    free_slots.pop_back();
  }
}

// Adds the states in which the tensor is in each level of object that is free and large enough.
void Colouring::advance(const Step& from, uint32_t index, size_t start, std::span<const uint32_t> objects) {
  State state = from.state;
  for (const uint8_t slot : ended_[start]) {
    for (size_t object = 0; object < objects.size(); ++object) {
      if (slot_at(state, object) == slot) state = with_slot(state, object, 0);
    }
  }
  const uint32_t item = starts_[start];
  for (size_t begin = 0; begin < objects.size() && objects[begin] >= items_[item].level;) {
    // Objects of one level are interchangeable: their slots are kept in rising order, free ones first.
    std::array<uint8_t, kMostObjects> slots{};
    size_t count = 0;
    for (; begin + count < objects.size() && objects[begin + count] == objects[begin]; ++count) {
      insert_sorted(slots, count, static_cast<uint8_t>(slot_at(state, begin + count)));
    }
    if (slots[0] == 0) {
      std::copy(slots.begin() + 1, slots.begin() + static_cast<std::ptrdiff_t>(count), slots.begin());
      insert_sorted(slots, count - 1, slot_[item]);
      State next = state;
      for (size_t k = 0; k < count; ++k) next = with_slot(next, begin + k, slots[k]);
      layers_[start + 1].push_back({next, index, static_cast<uint8_t>(begin)});
    }
    begin += count;
  }
}

Colouring::Verdict Colouring::test(std::span<const uint32_t> objects, SearchBudget& budget) {
  if (too_many_live_ || objects.size() > kMostObjects) return Verdict::gave_up;
  layers_.resize(items_.size() + 1);
  layers_[0].assign(1, {0, 0, 0});
  size_t states = 0;
  for (size_t start = 0; start < items_.size(); ++start) {
    auto& next = layers_[start + 1];
    next.clear();
    for (uint32_t index = 0; index < layers_[start].size(); ++index) {
      const size_t before = next.size();
      advance(layers_[start][index], index, start, objects);
      // A layer can be large, so the clock is asked within it.
      if (!budget.spend(1 + static_cast<int64_t>(16 * (next.size() - before)))) return Verdict::gave_up;
    }
    std::sort(next.begin(), next.end(), [](const Step& a, const Step& b) {
      return std::tuple(a.state, a.parent, a.object) < std::tuple(b.state, b.parent, b.object);
    });
    next.erase(std::unique(next.begin(), next.end(),
                           [](const Step& a, const Step& b) { return a.state == b.state; }),
               next.end());
    if (next.empty()) return Verdict::does_not_fit;
    states += next.size();
    if (states > kMostStates) return Verdict::gave_up;
  }
  trace_back(objects);
  return Verdict::fits;
}

// The states hold the level of each tensor's object; within a level any free object is suitable.
void Colouring::trace_back(std::span<const uint32_t> objects) {
  std::vector<uint8_t> kind(items_.size());
  uint32_t index = 0;
  for (size_t start = items_.size(); start-- > 0;) {
    const Step& step = layers_[start + 1][index];
    kind[starts_[start]] = step.object;
    index = step.parent;
  }
  assignment_.assign(items_.size(), 0);
  std::vector<int64_t> busy_until(objects.size(), -1);
  for (const uint32_t item : starts_) {
    uint32_t object = kind[item];
    while (busy_until[object] >= items_[item].first) ++object;
    busy_until[object] = items_[item].last;
    assignment_[item] = object;
  }
}

}  // namespace vellum::planner::detail
