// How the tasks of a program are divided into submits.
#include "plan/submits.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "plan/dispatch_model.hpp"
#include "plan/programs.hpp"

namespace vellum::test {
namespace {

// Ten dispatches in a row, `host` of which (if any) is a host partition.
Program ten_tasks(size_t host = 10) {
  ProgramMaker maker;
  TensorId x = maker.tensor("x", linear(64), TensorRole::input);
  for (size_t t = 0; t < 10; ++t) {
    const TensorId y = maker.tensor("t" + std::to_string(t), linear(64));
    if (t == host)
      maker.host_task({x}, {y});
    else
      maker.task({{x, Access::read}, {y, Access::write}});
    x = y;
  }
  return maker.program;
}

const std::vector<int64_t> kOneSegment{0};

std::vector<size_t> counts(const std::vector<SubmitRange>& submits) {
  std::vector<size_t> counts;
  size_t next = 0;
  for (const SubmitRange& submit : submits) {
    EXPECT_EQ(submit.first_task, next);
    next += submit.task_count;
    counts.push_back(submit.task_count);
  }
  EXPECT_EQ(next, 10u);
  return counts;
}

std::vector<size_t> divided(const SubmitLimits& limits, const std::vector<double>& milliseconds,
                            const Program& program = ten_tasks(),
                            const std::vector<int64_t>& segments = kOneSegment) {
  return counts(divide_into_submits(program, segments, limits, milliseconds));
}

const std::vector<double> kEqual(10, 2.0);

TEST(Submits, AreOneWithoutLimits) {
  EXPECT_EQ(divided({}, kEqual), (std::vector<size_t>{10}));
  EXPECT_EQ(divided({.milliseconds = 20}, kEqual), (std::vector<size_t>{10})) << "it fits";
}

TEST(Submits, EndAfterSomeTasks) {
  EXPECT_EQ(divided({.tasks = 4}, kEqual), (std::vector<size_t>{4, 4, 2}));
  EXPECT_EQ(divided({.tasks = 1}, kEqual), std::vector<size_t>(10, 1));
}

TEST(Submits, OfALongProgramTakeHalfOfTheLimit) {
  EXPECT_EQ(divided({.milliseconds = 19}, kEqual), (std::vector<size_t>{4, 4, 2}));
  EXPECT_EQ(divided({.tasks = 3, .milliseconds = 19}, kEqual), (std::vector<size_t>{3, 3, 3, 1}));
  std::vector<double> one_is_long = kEqual;
  one_is_long[5] = 100;
  EXPECT_EQ(divided({.milliseconds = 19}, one_is_long), (std::vector<size_t>{4, 1, 1, 4}))
      << "a dispatch that is too long is alone";
}

// Dispatches of `count` workgroups.
Program with_workgroups(std::array<uint32_t, 3> count) {
  Program program = ten_tasks();
  for (Task& task : program.tasks) task.dispatch->workgroup_count = count;
  return program;
}

TEST(Submits, DivideADispatchThatIsLongerThanTheLimit) {
  std::vector<double> one_is_long = kEqual;
  one_is_long[5] = 100;
  const Program program = with_workgroups({7, 30, 1});
  const SubmitLimits limits{.milliseconds = 19};
  const auto submits = divide_into_submits(program, kOneSegment, limits, one_is_long);
  ASSERT_EQ(submits.size(), 2 + 11 + 1u) << "of 9.5 ms at most";
  uint32_t next = 0;
  for (size_t i = 2; i < 13; ++i) {
    const SubmitRange& part = submits[i];
    EXPECT_EQ(part.first_task, 5u);
    EXPECT_EQ(part.task_count, 1u);
    EXPECT_LE(part.milliseconds, 9.5);
    ASSERT_TRUE(part.workgroups);
    EXPECT_EQ(part.workgroups->first, (std::array<uint32_t, 3>{0, next, 0}));
    EXPECT_EQ(part.workgroups->count[0], 7u);
    next += part.workgroups->count[1];
    EXPECT_EQ(part.continues, i > 2);
    EXPECT_EQ(part.is_continued, i < 12);
  }
  EXPECT_EQ(next, 30u);
  EXPECT_EQ(submits.back().first_task, 6u);
  EXPECT_EQ(parts_of_tasks(program, limits, one_is_long),
            (std::vector<uint32_t>{1, 1, 1, 1, 1, 11, 1, 1, 1, 1}));
}

TEST(Submits, DivideAlongXOnlyWhereThereIsOneRow) {
  const auto most = [](std::array<uint32_t, 3> count) {
    return most_parts(*with_workgroups(count).tasks[0].dispatch);
  };
  EXPECT_EQ(most({100, 1, 1}), 100u);
  EXPECT_EQ(most({100, 2, 1}), 2u);
  EXPECT_EQ(most({100, 2, 5}), 5u);
  EXPECT_EQ(most({1, 1, 1}), 1u);
  Dispatch gated = *with_workgroups({100, 1, 1}).tasks[0].dispatch;
  gated.workgroups_cooperate = true;
  EXPECT_EQ(most_parts(gated), 1u) << "its workgroups count each other";
}

TEST(Submits, FollowTheTimesThatWereMeasured) {
  const Program program = with_workgroups({64, 1, 1});
  const SubmitLimits limits{.milliseconds = 25};
  const auto slower = [&](const std::vector<double>& milliseconds, const std::vector<double>& measured) {
    return slower_milliseconds(program, kOneSegment, limits, milliseconds, measured);
  };
  EXPECT_FALSE(slower(kEqual, {24})) << "within the limit";
  EXPECT_FALSE(slower(kEqual, {std::numeric_limits<double>::quiet_NaN()}));
  const auto once = slower(kEqual, {40});
  ASSERT_TRUE(once);
  EXPECT_EQ(*once, std::vector<double>(10, 4.0));
  EXPECT_EQ(divide_into_submits(program, kOneSegment, limits, *once).size(), 4u);
  EXPECT_FALSE(slower(*once, {12, 12, 12, 4}));
  const auto again = slower(*once, {12, 12, 130, 4});
  ASSERT_TRUE(again);
  EXPECT_GT(parts_of_tasks(program, limits, *again)[7], 1u);
}

TEST(Submits, EndAtHostPartitionsAndSegments) {
  EXPECT_EQ(divided({}, kEqual, ten_tasks(3)), (std::vector<size_t>{3, 1, 6}));
  EXPECT_EQ(divided({.milliseconds = 6}, kEqual, ten_tasks(3)),
            (std::vector<size_t>{3, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(divided({}, kEqual, ten_tasks(), {0, 2, 7}), (std::vector<size_t>{2, 5, 3}));
}

TEST(Submits, HavePredictedTimes) {
  const Program program = ten_tasks(3);
  const auto submits = divide_into_submits(program, kOneSegment, {}, kEqual);
  EXPECT_TRUE(submits[1].host);
  EXPECT_EQ(submits[0].milliseconds, 6.0);
  EXPECT_EQ(submits[2].milliseconds, 12.0);
  for (const DeviceType type : {DeviceType::cpu, DeviceType::integrated_gpu, DeviceType::discrete_gpu}) {
    DeviceCaps caps;
    caps.type = type;
    const std::vector<double> milliseconds = predicted_milliseconds(program, std::vector<TaskSync>(10), caps);
    ASSERT_EQ(milliseconds.size(), 10u);
    for (size_t t = 0; t < 10; ++t) EXPECT_EQ(milliseconds[t] > 0, t != 3) << t;
  }
}

}  // namespace
}  // namespace vellum::test
