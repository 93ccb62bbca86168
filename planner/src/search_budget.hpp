// How long an exact search may go on.
//
// A search counts its elementary steps, and the budget in milliseconds stands for a number of them, so that a
// search that ends for want of budget ends at the same place every time: the plan depends on the input alone.
// The rate is a cautious one, a current machine does the steps of a millisecond in less. Only a machine many
// times slower, or a debugger, meets the clock, at four times the budget.
#pragma once

#include <chrono>
#include <cstdint>

namespace vellum::planner::detail {

class SearchBudget {
 public:
  explicit SearchBudget(std::chrono::milliseconds budget)
      : left_(budget.count() > 0 ? budget.count() * kStepsPerMillisecond : 0),
        deadline_(std::chrono::steady_clock::now() + kClockFactor * budget) {}

  // False once the budget has been used up.
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

  // A part of what is left, for one of several searches. The part is to be given back with `settle`.
  SearchBudget part(int64_t steps) const {
    SearchBudget share = *this;
    share.left_ = steps < left_ ? steps : left_;
    return share;
  }
  void settle(int64_t steps_used) { left_ -= steps_used; }

 private:
  static constexpr int64_t kStepsPerMillisecond = 250'000;
  static constexpr int kClockFactor = 4;

  int64_t left_;
  int64_t since_clock_ = 0;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace vellum::planner::detail
