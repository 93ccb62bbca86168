// The exact searches: optima of the networks, hard arenas, and agreement with looking at every plan there is.
#include "objects/exact.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <ostream>

#include "objects/assignment.hpp"
#include "offsets/assignment.hpp"
#include "offsets/exact.hpp"
#include "problem.hpp"
#include "records_for_tests.hpp"

namespace vellum::planner::test {
namespace {

using std::chrono::milliseconds;

// The budget is wall time: on a busy machine a proof that takes a few milliseconds may take seconds.
constexpr milliseconds kAmple{60'000};

struct Optimum {
  const char* name;
  uint64_t objects, offsets;
};
void PrintTo(const Optimum& optimum, std::ostream* out) { *out << optimum.name; }

class NetworkOptimum : public testing::TestWithParam<Optimum> {};

TEST_P(NetworkOptimum, IsProvedWithinTheBudget) {
  const auto records = network(GetParam().name);
  const PlanOptions options{.search_budget = kAmple};
  const ObjectPlan objects = plan_objects(records, ObjectStrategy::exact, options);
  validate(records, objects, options);
  EXPECT_TRUE(objects.proved_optimal);
  EXPECT_EQ(objects.total_bytes, GetParam().objects);
  const OffsetPlan offsets = plan_offsets(records, OffsetStrategy::exact, options);
  validate(records, offsets, options);
  EXPECT_TRUE(offsets.proved_optimal);
  EXPECT_EQ(offsets.total_bytes, GetParam().offsets);
}

INSTANTIATE_TEST_SUITE_P(
    Planner, NetworkOptimum,
    testing::Values(Optimum{"mobilenet_v2", 7024640, 6021120}, Optimum{"deeplab_v3", 6749568, 4530240},
                    Optimum{"blazeface", 1402880, 1376256}, Optimum{"mobilenet_v1", 4816896, 4816896},
                    Optimum{"inception_v3", 10371200, 8297856}, Optimum{"posenet", 6655424, 6575904}),
    [](const auto& tested) { return std::string(tested.param.name); });

std::vector<TensorUsageRecord> hard_arena(const std::string& name) {
  return read_records_csv(data_folder() / "minimalloc" / (name + ".1048576.csv")).records;
}

class HardArena : public testing::TestWithParam<const char*> {};

TEST_P(HardArena, IsPackedWithinItsCapacity) {
  const auto records = hard_arena(GetParam());
  const PlanOptions options{.search_budget = kAmple, .target_bytes = 1048576};
  const OffsetPlan plan = plan_offsets(records, OffsetStrategy::exact, options);
  validate(records, plan, options);
  EXPECT_LE(plan.total_bytes, 1048576u);
  EXPECT_GE(plan.total_bytes, offsets_lower_bound(records));
}

INSTANTIATE_TEST_SUITE_P(Planner, HardArena, testing::Values("A", "C", "E", "G"),
                         [](const auto& tested) { return std::string(tested.param); });

// Every way of dividing the records among objects.
uint64_t smallest_objects(const std::vector<TensorUsageRecord>& records, uint64_t alignment) {
  std::vector<std::vector<size_t>> objects;
  uint64_t best = naive_bytes(records, {.alignment = alignment});
  const std::function<void(size_t)> divide = [&](size_t next) {
    if (next == records.size()) {
      uint64_t total = 0;
      for (const auto& object : objects) {
        uint64_t bytes = 0;
        for (const size_t i : object) bytes = std::max(bytes, byte_size(records[i].size));
        total += (bytes + alignment - 1) / alignment * alignment;
      }
      best = std::min(best, total);
      return;
    }
    const auto meets = [&](size_t other) {
      return records[other].first_task <= records[next].last_task &&
             records[next].first_task <= records[other].last_task;
    };
    for (size_t object = 0; object < objects.size(); ++object) {
      if (std::any_of(objects[object].begin(), objects[object].end(), meets)) continue;
      objects[object].push_back(next);
      divide(next + 1);
      objects[object].pop_back();
    }
    objects.push_back({next});
    divide(next + 1);
    objects.pop_back();
  };
  divide(0);
  return best;
}

// Every order in which tensors can be dropped into the arena from above; some order gives the smallest plan.
uint64_t smallest_arena(const std::vector<TensorUsageRecord>& records) {
  std::vector<size_t> order(records.size());
  std::iota(order.begin(), order.end(), size_t{0});
  uint64_t best = naive_bytes(records);
  do {
    std::vector<uint64_t> top(records.size());
    uint64_t total = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const auto& record = records[order[i]];
      uint64_t offset = 0;
      for (size_t j = 0; j < i; ++j) {
        const auto& other = records[order[j]];
        if (other.first_task <= record.last_task && record.first_task <= other.last_task) {
          offset = std::max(offset, top[order[j]]);
        }
      }
      top[order[i]] = offset + byte_size(record.size);
      total = std::max(total, top[order[i]]);
    }
    best = std::min(best, total);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(ExactObjects, AgreeWithEveryDivision) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto records = RandomRecords(seed)({10, 8 + static_cast<int64_t>(seed % 5), 5, 9, false});
    const PlanOptions options{.alignment = seed % 3 == 0 ? 64u : 1u, .search_budget = kAmple};
    const ObjectPlan plan = plan_objects(records, ObjectStrategy::exact, options);
    validate(records, plan, options);
    EXPECT_TRUE(plan.proved_optimal);
    EXPECT_EQ(plan.total_bytes, smallest_objects(records, options.alignment));
  }
}

TEST(ExactOffsets, AgreeWithEveryOrder) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto records = RandomRecords(seed)({7, 5 + static_cast<int64_t>(seed % 4), 4, 9, false});
    const PlanOptions options{.search_budget = kAmple};
    const OffsetPlan plan = plan_offsets(records, OffsetStrategy::exact, options);
    validate(records, plan, options);
    EXPECT_TRUE(plan.proved_optimal);
    EXPECT_EQ(plan.total_bytes, smallest_arena(records));
  }
}

// Where even the smallest arena is larger than the largest breadth, the bound has to rise to meet the plan.
TEST(ExactOffsets, AnOptimumAboveTheBreadthIsProved) {
  const std::vector<TensorUsageRecord> records = {
      bytes_record(2, 0, 1), bytes_record(2, 0, 2), bytes_record(1, 2, 3), bytes_record(1, 2, 4),
      bytes_record(1, 3, 3), bytes_record(1, 3, 4), bytes_record(2, 4, 6), bytes_record(2, 5, 6)};
  ASSERT_EQ(offsets_lower_bound(records), 4u);
  ASSERT_EQ(smallest_arena(records), 5u);
  const OffsetPlan plan = plan_offsets(records, OffsetStrategy::exact, PlanOptions{.search_budget = kAmple});
  EXPECT_EQ(plan.total_bytes, 5u);
  EXPECT_EQ(plan.lower_bound, 5u);
  EXPECT_TRUE(plan.proved_optimal);
}

TEST(ExactSearch, NeverWorseThanWithout) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto records = RandomRecords(seed)({200, 100, 12, 200, false});
    const PlanOptions none, some{.search_budget = milliseconds(20)};
    const ObjectPlan objects = plan_objects(records, ObjectStrategy::best, some);
    validate(records, objects, some);
    EXPECT_LE(objects.total_bytes, plan_objects(records, ObjectStrategy::best, none).total_bytes);
    EXPECT_LE(objects.lower_bound, objects.total_bytes);
    const OffsetPlan offsets = plan_offsets(records, OffsetStrategy::best, some);
    validate(records, offsets, some);
    EXPECT_LE(offsets.total_bytes, plan_offsets(records, OffsetStrategy::best, none).total_bytes);
    EXPECT_LE(offsets.lower_bound, offsets.total_bytes);
  }
}

// The result of a search with a clock that a test moves.
struct Searched {
  detail::ExactObjects objects;
  detail::ExactOffsets offsets;
};

Searched search(const std::vector<TensorUsageRecord>& records, milliseconds budget,
                const std::function<detail::SearchBudget::Clock::time_point()>& now) {
  const detail::RecordClass all = detail::as_bytes(records, {});
  detail::SearchBudget for_objects(budget, now), for_offsets(budget, now);
  return {detail::improve_objects(all, detail::objects_greedy_by_size(all), 0, for_objects),
          detail::improve_offsets(all, detail::offsets_greedy_by_size(all), 0, for_offsets)};
}

TEST(ExactSearch, IsTheSameEveryTimeWhereTheClockDoesNotEndIt) {
  const auto stopped = [] { return detail::SearchBudget::Clock::time_point(); };
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto records = RandomRecords(seed)({200, 100, 12, 200, false});
    const Searched first = search(records, milliseconds(20), stopped);
    const Searched second = search(records, milliseconds(20), stopped);
    EXPECT_EQ(first.objects.object_of, second.objects.object_of);
    EXPECT_EQ(first.offsets.offset_of, second.offsets.offset_of);
  }
}

// However slow the machine: here a millisecond passes between any two looks at the clock.
TEST(ExactSearch, EndsWithItsTime) {
  for (const char* name : {"A", "E"}) {
    const auto records = hard_arena(name);
    const auto start = detail::SearchBudget::Clock::time_point();
    auto time = start;
    const auto now = [&] { return time += milliseconds(1); };
    detail::SearchBudget budget(milliseconds(30), now);
    const detail::RecordClass all = detail::as_bytes(records, {});
    const auto found = detail::improve_offsets(all, detail::offsets_greedy_by_size(all), 0, budget);
    EXPECT_TRUE(budget.is_spent());
    EXPECT_LE(time - start, milliseconds(32)) << name;
    EXPECT_EQ(found.lower_bound, 1048576u);  // a search that is cut short proves no more than it may
  }
  // Between two looks there are as many steps as the budget says, and one placement or layer more.
  auto time = detail::SearchBudget::Clock::time_point();
  int looks = 0;
  detail::SearchBudget budget(milliseconds(1'000), [&] { return ++looks, time; });
  const auto records = RandomRecords(7)({200, 100, 12, 200, false});
  const detail::RecordClass all = detail::as_bytes(records, {});
  const int64_t before = budget.steps_left();
  detail::improve_offsets(all, detail::offsets_greedy_by_size(all), 0, budget);
  EXPECT_GE(looks, (before - std::max<int64_t>(budget.steps_left(), 0)) /
                       (2 * detail::SearchBudget::kStepsBetweenClocks));
}

TEST(ExactSearch, StopsAtTheTarget) {
  const auto records = network("deeplab_v3");
  const uint64_t without = plan_objects(records, ObjectStrategy::best).total_bytes;
  const PlanOptions content{.search_budget = kAmple, .target_bytes = without};
  EXPECT_EQ(plan_objects(records, ObjectStrategy::exact, content).total_bytes, without);
}

TEST(ExactSearch, TakesTexturesWithExtentsInside) {
  std::vector<TensorUsageRecord> records;
  for (const auto& record : network("inception_v3")) {
    const auto width = static_cast<uint32_t>(byte_size(record.size) / 4);
    records.push_back({Texture2D{width, 1, {1, 4}}, record.first_task, record.last_task});
  }
  const ObjectPlan plan = plan_objects(records, ObjectStrategy::exact, PlanOptions{.search_budget = kAmple});
  validate(records, plan);
  EXPECT_TRUE(plan.proved_optimal);
  EXPECT_EQ(plan.total_bytes, 10371200u);
}

}  // namespace
}  // namespace vellum::planner::test
