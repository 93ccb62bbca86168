#include "plan/synchronisation.hpp"

#include <gtest/gtest.h>

#include "plan/programs.hpp"

namespace vellum::test {
namespace {

std::vector<TaskSync> synchronise_naive(const Program& program) {
  return synchronise(program, plan_memory(program, {.mode = MemoryMode::naive}, tight_rules(16)));
}

TEST(Synchronisation, ReadAfterWriteWaits) {
  ProgramMaker make;
  const TensorId a = make.tensor("a", linear(4)), b = make.tensor("b", linear(4));
  make.task({{a, Access::write}});
  make.task({{a, Access::read}, {b, Access::write}});
  const auto syncs = synchronise_naive(make.program);
  EXPECT_FALSE(syncs[0].barrier);
  EXPECT_TRUE(syncs[1].barrier);
}

TEST(Synchronisation, IndependentTasksRunTogether) {
  ProgramMaker make;
  const TensorId in = make.tensor("in", linear(4), TensorRole::input);
  const TensorId a = make.tensor("a", linear(4)), b = make.tensor("b", linear(4));
  make.task({{in, Access::read}, {a, Access::write}});
  make.task({{in, Access::read}, {b, Access::write}});
  make.task({{a, Access::read}, {b, Access::read}});
  make.task({{a, Access::read}});
  const auto syncs = synchronise_naive(make.program);
  EXPECT_FALSE(syncs[1].barrier);
  EXPECT_TRUE(syncs[2].barrier);
  EXPECT_FALSE(syncs[3].barrier) << "the barrier before covers all writes";
}

TEST(Synchronisation, WriteAfterReadOfASharedObjectWaits) {
  ProgramMaker make;
  const TensorId a = make.tensor("a", linear(4)), b = make.tensor("b", linear(4)),
                 c = make.tensor("c", linear(4));
  make.task({{a, Access::write}});
  make.task({{a, Access::read}, {b, Access::write}});
  make.task({{c, Access::write}});  // c takes a's object: it must wait for task 1's read
  make.task({{b, Access::read}, {c, Access::read}});
  const MemoryPlan plan = plan_memory(make.program, {}, tight_rules(16));
  ASSERT_EQ(plan.object_of[a], plan.object_of[c]);
  EXPECT_TRUE(synchronise(make.program, plan)[2].barrier);
  EXPECT_FALSE(synchronise_naive(make.program)[2].barrier) << "with objects of their own nothing is shared";
}

TEST(Synchronisation, ImageIsDiscardedWhereATensorBegins) {
  ProgramMaker make;
  const TensorId a = make.tensor("a", image(4, 2, 2));
  make.task({{a, Access::write}});
  make.task({{a, Access::read_write}});
  const auto syncs = synchronise_naive(make.program);
  EXPECT_EQ(syncs[0].discarded_objects.size(), 1u);
  EXPECT_TRUE(syncs[1].discarded_objects.empty()) << "a later write adds to the tensor";
  EXPECT_TRUE(syncs[1].barrier);
}

TEST(Synchronisation, HostCallSettlesEverything) {
  ProgramMaker make;
  const TensorId a = make.tensor("a", linear(4)), b = make.tensor("b", linear(4)),
                 c = make.tensor("c", linear(4));
  make.task({{a, Access::write}});
  make.host_task({a}, {b});
  make.task({{a, Access::read}, {b, Access::read}, {c, Access::write}});
  EXPECT_FALSE(synchronise_naive(make.program)[2].barrier);
}

}  // namespace
}  // namespace vellum::test
