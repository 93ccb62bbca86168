// The budget of an exact search.
//
// The budget is wall time, which no search exceeds, however busy the machine is. A search also counts its
// elementary steps, and ends after a number of steps that an idle current machine does in much less time than
// the budget. On such a machine the plan depends only on the input.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace vellum::planner::detail {

class SearchBudget {
 public:
  using Clock = std::chrono::steady_clock;

  // `now`: null for the steady clock.
  explicit SearchBudget(std::chrono::milliseconds budget, std::function<Clock::time_point()> now = nullptr)
      : now_(now ? std::move(now) : Clock::now) {
    const auto milliseconds = std::clamp<int64_t>(budget.count(), 0, kMostMilliseconds);
    left_ = milliseconds * kStepsPerMillisecond;
    if (left_ > 0) deadline_ = now_() + std::chrono::milliseconds(milliseconds);
  }

  // Counts `steps`. Returns false once the budget is spent. If it is called at least once in
  // kStepsBetweenClocks steps, a search exceeds its time by at most that many steps.
  bool spend(int64_t steps) {
    left_ -= steps;
    since_clock_ += steps;
    if (since_clock_ >= kStepsBetweenClocks) {
      since_clock_ = 0;
      if (now_() >= deadline_) left_ = 0;
    }
    return left_ > 0;
  }
  bool is_spent() const { return left_ <= 0; }
  int64_t steps_left() const { return left_; }

  static constexpr int64_t kStepsBetweenClocks = 20'000;

 private:
  static constexpr int64_t kStepsPerMillisecond = 100'000;
  static constexpr int64_t kMostMilliseconds = int64_t{1} << 40;  // 35 years: no product overflows

  int64_t left_ = 0;
  int64_t since_clock_ = 0;
  std::function<Clock::time_point()> now_;
  Clock::time_point deadline_;
};

}  // namespace vellum::planner::detail
