// The budget of an exact search.
//
// A search counts its elementary steps, and the budget in milliseconds stands for a number of steps. So a
// search that exhausts its budget ends at the same step every time, and the plan depends on the input alone.
// The rate is conservative: a current machine does the steps of a millisecond in less. Only a machine many
// times slower, or a debugger, reaches the deadline, which is four times the budget.
#pragma once

#include <chrono>
#include <cstdint>

namespace vellum::planner::detail {

class SearchBudget {
 public:
  explicit SearchBudget(std::chrono::milliseconds budget)
      : left_(budget.count() > 0 ? budget.count() * kStepsPerMillisecond : 0),
        deadline_(std::chrono::steady_clock::now() + kClockFactor * budget) {}

  // Counts `steps`. Returns false once the budget is used up.
  bool spend(int64_t steps) {
    left_ -= steps;
    since_clock_ += steps;
    if (since_clock_ > kStepsPerMillisecond) {
      since_clock_ = 0;
      if (std::chrono::steady_clock::now() > deadline_) left_ = 0;
    }
    return left_ > 0;
  }
  bool is_spent() const { return left_ <= 0; }
  int64_t steps_left() const { return left_; }

 private:
  static constexpr int64_t kStepsPerMillisecond = 250'000;
  static constexpr int kClockFactor = 4;

  int64_t left_;
  int64_t since_clock_ = 0;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace vellum::planner::detail
