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

// Two branches that read one tensor: the image that the second begins to write is nobody's since the barrier.
TEST(Synchronisation, ImagesOfIndependentBranchesAreDiscardedTogether) {
  ProgramMaker make;
  const TensorId in = make.tensor("in", linear(4), TensorRole::input);
  const TensorId stem = make.tensor("stem", image(4, 2, 2)), left = make.tensor("left", image(4, 2, 2)),
                 right = make.tensor("right", image(4, 2, 2)), out = make.tensor("out", image(4, 2, 2));
  make.task({{in, Access::read}, {stem, Access::write}});
  make.task({{stem, Access::read}, {left, Access::write}});
  make.task({{stem, Access::read}, {right, Access::write}});
  make.task({{left, Access::read}, {right, Access::read}, {out, Access::write}});
  const auto syncs = synchronise_naive(make.program);
  const auto discards = [&](size_t task) { return syncs[task].discarded_objects.size(); };
  EXPECT_EQ(discards(0), 1u);
  EXPECT_TRUE(syncs[1].barrier);
  EXPECT_EQ(discards(1), 2u);
  EXPECT_FALSE(syncs[2].barrier);
  EXPECT_EQ(discards(2), 0u);
  EXPECT_TRUE(syncs[3].barrier);
  EXPECT_EQ(discards(3), 1u);
}

TEST(Synchronisation, DiscardsWithoutAHazardGoNoFurtherThanAHostPartition) {
  ProgramMaker make;
  const TensorId a = make.tensor("a", linear(4)), b = make.tensor("b", linear(4));
  const TensorId c = make.tensor("c", image(4, 2, 2)), d = make.tensor("d", image(4, 2, 2));
  make.task({{a, Access::write}});
  make.host_task({a}, {b});
  make.task({{b, Access::read}, {c, Access::write}});
  make.task({{b, Access::read}, {d, Access::write}});
  const auto syncs = synchronise_naive(make.program);
  EXPECT_TRUE(syncs[0].discarded_objects.empty());
  EXPECT_FALSE(syncs[2].barrier);
  EXPECT_EQ(syncs[2].discarded_objects.size(), 2u);
  EXPECT_TRUE(syncs[3].discarded_objects.empty());
}

TEST(Synchronisation, HostPartitionsClearEveryHazard) {
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
