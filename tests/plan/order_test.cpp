// Orders of tasks that take less memory.
#include "plan/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "plan/arrange.hpp"
#include "plan/lifetimes.hpp"
#include "plan/programs.hpp"

namespace vellum::test {
namespace {

TEST(Order, BranchesRunOneAfterTheOther) {
  Program program = Branches().make.program;
  const LowPeakOrder order = order_with_low_peak(program, tight_rules(kAlignment), true);
  EXPECT_EQ(order.tasks, (std::vector<size_t>{0, 1, 3, 2, 4, 5}));
  EXPECT_EQ(order.peak_bytes, order.bound_bytes);
  EXPECT_GE(planned(program), 3200u);
  arrange(program, {.mode = MemoryMode::offsets}, kAlignment, tight_rules(kAlignment));
  EXPECT_LE(planned(program), 1664u);
}

// Eight tasks, each of which reads up to two tensors and writes one.
Program random_program(uint32_t seed) {
  std::mt19937 dice(seed);
  ProgramMaker make;
  std::vector<TensorId> tensors;
  for (size_t t = 0; t < 8; ++t) {
    std::vector<Binding> bindings;
    for (int i = 0; i < 2 && !tensors.empty(); ++i)
      bindings.push_back(read(tensors[dice() % tensors.size()]));
    if (bindings.size() == 2 && bindings[0].tensor == bindings[1].tensor) bindings.pop_back();
    tensors.push_back(make.tensor("t" + std::to_string(t), linear(4 + 4 * static_cast<int64_t>(dice() % 9))));
    bindings.push_back(write(tensors.back()));
    make.task(bindings);
  }
  return std::move(make.program);
}

// The peak of the program as it is: each tensor from the task that writes it to the last that reads it.
uint64_t peak_of(const Program& program) {
  std::vector<uint64_t> live(program.tasks.size(), 0);
  const std::vector<Lifetime> lives = lifetimes(program);
  for (TensorId id = 0; id < program.tensors.size(); ++id)
    for (int64_t t = lives[id].first; lives[id].planned() && t <= lives[id].last; ++t)
      live[static_cast<size_t>(t)] +=
          tight_rules(kAlignment).need(object_desc(program.tensors[id].desc)).bytes;
  return *std::ranges::max_element(live);
}

// The least of all orders that the dependencies allow.
uint64_t least_peak(const Program& program, std::vector<size_t>& order,
                    const std::vector<std::vector<size_t>>& before) {
  if (order.size() == before.size()) {
    Program other = program;
    apply_order(other, order);
    return peak_of(other);
  }
  uint64_t least = UINT64_MAX;
  for (size_t t = 0; t < before.size(); ++t) {
    const auto is_done = [&](size_t task) { return std::ranges::find(order, task) != order.end(); };
    if (is_done(t) || !std::ranges::all_of(before[t], is_done)) continue;
    order.push_back(t);
    least = std::min(least, least_peak(program, order, before));
    order.pop_back();
  }
  return least;
}

TEST(Order, IsProvedToBeTheBestOfAll) {
  size_t improved = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Program program = random_program(seed);
    const LowPeakOrder found = order_with_low_peak(program, tight_rules(kAlignment), false);
    std::vector<size_t> order;
    EXPECT_EQ(found.peak_bytes, least_peak(program, order, dependencies(program)));
    EXPECT_EQ(found.bound_bytes, found.peak_bytes);
    const uint64_t before = peak_of(program);
    apply_order(program, found.tasks);
    EXPECT_EQ(peak_of(program), found.peak_bytes);
    improved += found.peak_bytes < before;
  }
  EXPECT_GT(improved, 10u);
}

TEST(Order, EveryDependencyHolds) {
  ProgramMaker make;
  const TensorId a = make.tensor("a", linear(4)), b = make.tensor("b", linear(4));
  make.task({write(a)});
  make.task({read(a), write(b)});
  make.task({{a, Access::read_write}});
  make.task({read(a), read(b)});
  const auto before = dependencies(make.program);
  EXPECT_EQ(before[1], (std::vector<size_t>{0}));
  EXPECT_EQ(before[2], (std::vector<size_t>{0, 1})) << "what task 1 reads must not change before";
  EXPECT_EQ(before[3], (std::vector<size_t>{1, 2})) << "task 2 waits for task 0, whose result it overwrote";
}

TEST(Order, NothingPassesAHostPartition) {
  Branches branches;
  const TensorId value = branches.make.tensor("value", linear(4));
  branches.make.program.tasks.insert(branches.make.program.tasks.begin() + 3, Task{});
  branches.make.program.tasks[3].host.emplace();
  branches.make.program.tasks[3].host->outputs = {value};
  const std::vector<size_t> order =
      order_with_low_peak(branches.make.program, tight_rules(kAlignment), true).tasks;
  EXPECT_EQ(order[3], 3u);
  EXPECT_TRUE(std::all_of(order.begin(), order.begin() + 3, [](size_t t) { return t < 3; }));
}

TEST(Order, LargeProgramsTakeBoundedTime) {
  ProgramMaker make;
  const TensorId start = make.tensor("start", linear(4));
  make.task({write(start)});
  std::vector<TensorId> ends;
  for (int i = 0; i < 3000; ++i) {
    ends.push_back(make.tensor("t", linear(4 + i % 7)));
    make.task({read(i < 300 ? start : ends[static_cast<size_t>(i) - 300]), write(ends.back())});
  }
  std::vector<size_t> order = order_with_low_peak(make.program, tight_rules(kAlignment), true).tasks;
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], i);
}

}  // namespace
}  // namespace vellum::test
