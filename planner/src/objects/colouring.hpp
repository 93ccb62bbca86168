// Decides whether a set of objects suffices: colouring of an interval graph in which each tensor may use the
// objects that are large enough for it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "../search_budget.hpp"
#include "assignment.hpp"

namespace vellum::planner::detail {

// A tensor with its size as a rank among the sizes of the class: 1 is the smallest.
struct LevelItem {
  int64_t first = 0;
  int64_t last = 0;
  uint32_t level = 0;
};

// Dynamic programming over time. The states at each tensor's start are all assignments of the live tensors to
// objects, where objects of one size are interchangeable. Exponential in the number of objects only.
class Colouring {
 public:
  static constexpr size_t kMostObjects = 15;

  enum class Verdict { fits, does_not_fit, gave_up };

  explicit Colouring(std::vector<LevelItem> items);

  // Tests objects of these levels, which are in descending order and at most kMostObjects.
  Verdict test(std::span<const uint32_t> objects, SearchBudget& budget);
  // After `fits`: the object of each item.
  const ObjectAssignment& assignment() const { return assignment_; }

 private:
  // Four bits for each object: 0 if it is free, else the slot of its tensor.
  using State = uint64_t;
  struct Step {
    State state;
    uint32_t parent;  // index into the previous layer
    uint8_t object;   // the object of this layer's tensor
  };

  void advance(const Step& from, uint32_t index, size_t start, std::span<const uint32_t> objects);
  void trace_back(std::span<const uint32_t> objects);

  std::vector<LevelItem> items_;
  std::vector<uint32_t> starts_;             // items by first task
  std::vector<uint8_t> slot_;                // per item; live items have different slots
  std::vector<std::vector<uint8_t>> ended_;  // per start: the slots freed since the previous start
  bool too_many_live_ = false;
  std::vector<std::vector<Step>> layers_;
  ObjectAssignment assignment_;
};

}  // namespace vellum::planner::detail
