// Weights under a budget: what is where, and when, checked by a simulation that shares nothing with the plan.
#include "plan/weight_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/errors.hpp"
#include "vellum/error.hpp"

namespace vellum::test {
namespace {

std::vector<WeightUse> one_per_task(const std::vector<uint64_t>& sizes) {
  std::vector<WeightUse> uses;
  for (const uint64_t bytes : sizes) {
    const auto task = static_cast<int64_t>(uses.size());
    uses.push_back({bytes, 16, task, task, "layer" + std::to_string(task)});
  }
  return uses;
}

uint64_t sum(const std::vector<WeightUse>& uses) {
  uint64_t bytes = 0;
  for (const WeightUse& use : uses) bytes += use.bytes;
  return bytes;
}

// Bytes that one task needs at least.
uint64_t largest_task(const std::vector<WeightUse>& uses, int64_t tasks) {
  uint64_t most = 0;
  for (int64_t task = 0; task < tasks; ++task) {
    uint64_t bytes = 0;
    for (const WeightUse& use : uses)
      if (use.first_task <= task && task <= use.last_task) bytes += use.bytes;
    most = std::max(most, bytes);
  }
  return most;
}

// Runs the plan twice, every load as early as it allows: which weight each byte holds must be right whenever
// a task reads it.
void simulate(const std::vector<WeightUse>& uses, int64_t tasks, uint64_t budget,
              const WeightStreamPlan& plan) {
  ASSERT_LE(plan.total_bytes, budget);
  ASSERT_EQ(plan.segments.front().first_task, 0);
  std::vector<int> holds(plan.total_bytes, -1);
  const auto put = [&](size_t use) {
    ASSERT_EQ(plan.offset_of[use] % uses[use].alignment, 0u);
    ASSERT_LE(plan.offset_of[use] + uses[use].bytes, plan.total_bytes);
    std::fill_n(holds.begin() + static_cast<std::ptrdiff_t>(plan.offset_of[use]), uses[use].bytes,
                static_cast<int>(use));
  };
  for (size_t use = 0; use < uses.size(); ++use)
    if (plan.pinned[use]) put(use);
  for (int run = 0; run < 2; ++run) {
    size_t next = 0;
    const auto load_while_free = [&](int64_t done) {
      for (; next < plan.segments.size() && plan.segments[next].free_after <= done; ++next)
        for (const uint32_t use : plan.segments[next].loads) put(use);
    };
    load_while_free(-1);
    for (size_t s = 0; s < plan.segments.size(); ++s) {
      ASSERT_GT(next, s) << "segment " << s << " never gets its weights";
      const int64_t end = s + 1 < plan.segments.size() ? plan.segments[s + 1].first_task : tasks;
      for (int64_t task = plan.segments[s].first_task; task < end; ++task)
        for (size_t use = 0; use < uses.size(); ++use) {
          if (task < uses[use].first_task || uses[use].last_task < task) continue;
          for (uint64_t byte = 0; byte < uses[use].bytes; ++byte)
            ASSERT_EQ(holds[plan.offset_of[use] + byte], static_cast<int>(use))
                << "task " << task << " of run " << run;
        }
      load_while_free(static_cast<int64_t>(s));
    }
  }
}

TEST(WeightStream, KeepsEverythingWhereTheBudgetAllows) {
  const std::vector<WeightUse> uses = one_per_task({160, 320, 16, 4000});
  const WeightStreamPlan plan = plan_weight_stream(uses, 4, sum(uses));
  EXPECT_EQ(plan.total_bytes, sum(uses));
  EXPECT_EQ(plan.streamed_bytes, 0u);
  EXPECT_EQ(plan.segments.size(), 1u);
  simulate(uses, 4, sum(uses), plan);
}

TEST(WeightStream, LoadsAheadWhereTwoLayersFit) {
  const std::vector<WeightUse> uses = one_per_task(std::vector<uint64_t>(10, 1600));
  const WeightStreamPlan plan = plan_weight_stream(uses, 10, 3200);
  EXPECT_EQ(plan.segments.size(), 10u);
  for (size_t s = 2; s < plan.segments.size(); ++s)
    EXPECT_EQ(plan.segments[s].free_after, static_cast<int64_t>(s) - 2);
  simulate(uses, 10, 3200, plan);
}

TEST(WeightStream, PinsWhatIsLeftOver) {
  const std::vector<WeightUse> uses = one_per_task(std::vector<uint64_t>(10, 1600));
  const WeightStreamPlan plan = plan_weight_stream(uses, 10, 6 * 1600);
  EXPECT_EQ(plan.streamed_bytes, 6u * 1600) << "four stay, and two places carry the other six";
  simulate(uses, 10, 6 * 1600, plan);
}

TEST(WeightStream, NamesTheLayerAndTheBudgetThatWouldDo) {
  const std::vector<WeightUse> uses = one_per_task({160, 4000, 160});
  EXPECT_EQ(sufficient_weights_budget(uses), 4000u);
  EXPECT_VELLUM_ERROR(plan_weight_stream(uses, 3, 3999), ErrorCode::out_of_memory, "'layer1'",
                      "weights of 4000 bytes", "budget of 3999", "; 4000 bytes would do");
  simulate(uses, 3, 4000, plan_weight_stream(uses, 3, 4000));
}

TEST(WeightStream, IsRightForRandomNetworks) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](uint64_t most) { return random() % most; };
    const int64_t tasks = 5 + static_cast<int64_t>(below(30));
    std::vector<WeightUse> uses;
    for (int64_t task = 0; task < tasks; ++task)
      for (uint64_t count = below(3); count > 0; --count) {
        const int64_t last = below(8) == 0 ? task + static_cast<int64_t>(below(6)) : task;
        uses.push_back({1 + below(below(4) == 0 ? 2000 : 100), uint64_t{1} << below(7), task,
                        std::min(last, tasks - 1), "layer" + std::to_string(task)});
      }
    if (uses.empty()) continue;
    const uint64_t least = sufficient_weights_budget(uses), all = 2 * sum(uses) + 4096;
    for (const uint64_t budget : {least, least + least / 3, 2 * least, all})
      simulate(uses, tasks, budget, plan_weight_stream(uses, tasks, budget));
    EXPECT_THROW(plan_weight_stream(uses, tasks, largest_task(uses, tasks) - 1), Error);
  }
}

}  // namespace
}  // namespace vellum::test
