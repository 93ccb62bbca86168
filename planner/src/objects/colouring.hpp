// Do these objects suffice? Colouring of an interval graph where each tensor may go to the objects that are
// large enough for it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "../search_budget.hpp"
#include "assignment.hpp"

namespace vellum::planner::detail {

// A tensor with its size as a level: 1 the smallest of the class, and so on upwards.
struct LevelItem {
  int64_t first = 0;
  int64_t last = 0;
  uint32_t level = 0;
};

// Dynamic programming over time: at each tensor's start the states are all the ways in which the live tensors
// can sit in the objects, objects of one size being alike. Exponential only in the number of objects.
class Colouring {
 public:
  static constexpr size_t kMostObjects = 15;

  enum class Verdict { fits, does_not_fit, gave_up };

  explicit Colouring(std::vector<LevelItem> items);

  // `objects`: levels in falling order, at most kMostObjects of them.
  Verdict test(std::span<const uint32_t> objects, SearchBudget& budget);
  // After `fits`: the object of each item.
  const ObjectAssignment& assignment() const { return assignment_; }

 private:
  // Four bits an object: 0 free, else the slot of the tensor in it.
  using State = uint64_t;
  struct Step {
    State state;
    uint32_t parent;  // in the layer before
    uint8_t object;   // where the tensor of this layer went
  };

  void advance(const Step& from, uint32_t index, size_t start, std::span<const uint32_t> objects);
  void trace_back(std::span<const uint32_t> objects);

  std::vector<LevelItem> items_;
  std::vector<uint32_t> starts_;             // items by first task
  std::vector<uint8_t> slot_;                // per item; live items have different slots
  std::vector<std::vector<uint8_t>> ended_;  // per start: the slots freed since the start before
  bool too_many_live_ = false;
  std::vector<std::vector<Step>> layers_;
  ObjectAssignment assignment_;
};

}  // namespace vellum::planner::detail
