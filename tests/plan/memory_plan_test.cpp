#include "plan/memory_plan.hpp"

#include <gtest/gtest.h>

#include "plan/programs.hpp"

namespace vellum::test {
namespace {

using planner::ObjectStrategy;

// in -> a -> b -> c -> out, all buffers of 64 elements.
ProgramMaker chain() {
  ProgramMaker make;
  TensorId previous = make.tensor("in", linear(64), TensorRole::input);
  for (const char* name : {"a", "b", "c"}) {
    const TensorId next = make.tensor(name, linear(64));
    make.task({{previous, Access::read}, {next, Access::write}});
    previous = next;
  }
  const TensorId out = make.tensor("out", linear(64), TensorRole::output);
  make.task({{previous, Access::read}, {out, Access::write}});
  return make;
}

TEST(Lifetimes, RunFromTheWriterToTheLastReader) {
  const std::vector<Lifetime> all = lifetimes(chain().program);
  EXPECT_FALSE(all[0].planned()) << "inputs are not planned";
  EXPECT_EQ(all[1].first, 0);
  EXPECT_EQ(all[1].last, 1);
  EXPECT_EQ(all[3].first, 2);
  EXPECT_EQ(all[3].last, 3);
  EXPECT_FALSE(all[4].planned()) << "outputs are not planned";
}

TEST(Lifetimes, AliasKeepsItsRootAlive) {
  ProgramMaker make;
  const TensorId root = make.tensor("root", linear(8));
  const TensorId view = make.alias("view", root);
  const TensorId other = make.tensor("other", linear(8));
  make.task({{root, Access::write}});
  make.task({{other, Access::write}});
  make.task({{view, Access::read}, {other, Access::read}});
  const std::vector<Lifetime> all = lifetimes(make.program);
  EXPECT_EQ(all[root].last, 2);
  EXPECT_EQ(all[view].last, 2);
  const MemoryPlan plan = plan_memory(make.program, MemoryMode::shared_objects, ObjectStrategy::best, 16);
  EXPECT_EQ(plan.object_of[view], plan.object_of[root]);
  EXPECT_NE(plan.object_of[other], plan.object_of[root]);
}

TEST(Lifetimes, HostCallsCountAsTasks) {
  ProgramMaker make;
  const TensorId a = make.tensor("a", linear(8)), b = make.tensor("b", linear(8));
  make.task({{a, Access::write}});
  make.host_task({a, kNoTensor}, {b});
  make.task({{b, Access::read}});
  const std::vector<Lifetime> all = lifetimes(make.program);
  EXPECT_EQ(all[a].last, 1);
  EXPECT_EQ(all[b].first, 1);
}

TEST(MemoryPlan, ChainNeedsTwoObjects) {
  const Program program = chain().program;
  const MemoryPlan plan = plan_memory(program, MemoryMode::shared_objects, ObjectStrategy::greedy_by_size_improved, 16);
  EXPECT_EQ(plan.objects.size(), 2u);
  EXPECT_EQ(plan.planned_bytes, 512u);
  EXPECT_EQ(plan.naive_bytes, 768u);
  EXPECT_EQ(plan.lower_bound_bytes, 512u);
  EXPECT_EQ(plan.object_of[1], plan.object_of[3]) << "a is dead when c is written";
  EXPECT_EQ(plan.object_of[0], kNoObject);
}

TEST(MemoryPlan, NaiveGivesEachTensorItsOwn) {
  const MemoryPlan plan = plan_memory(chain().program, MemoryMode::naive, ObjectStrategy::best, 16);
  EXPECT_EQ(plan.objects.size(), 3u);
  EXPECT_EQ(plan.planned_bytes, plan.naive_bytes);
}

TEST(MemoryPlan, ImageCoversEveryTensorItCarries) {
  ProgramMaker make;
  const TensorId wide = make.tensor("wide", image(4, 3, 40)), pivot = make.tensor("pivot", image(4, 1, 1)),
                 tall = make.tensor("tall", image(16, 20, 8));
  make.task({{wide, Access::write}});
  make.task({{wide, Access::read}, {pivot, Access::write}});
  make.task({{pivot, Access::read}, {tall, Access::write}});
  make.task({{tall, Access::read}});
  const MemoryPlan plan = plan_memory(make.program, MemoryMode::shared_objects, ObjectStrategy::best, 16);
  for (const SharedObject& object : plan.objects)
    for (TensorId id : object.tensors) {
      EXPECT_GE(object.extent.width, make.program.tensors[id].desc.extent().width);
      EXPECT_GE(object.extent.height, make.program.tensors[id].desc.extent().height);
    }
}

TEST(MemoryPlan, BuffersAndImagesNeverShare) {
  ProgramMaker make;
  const TensorId a = make.tensor("image", image(4, 2, 2)), b = make.tensor("buffer", linear(16)),
                 c = make.tensor("later", linear(16));
  make.task({{a, Access::write}});
  make.task({{a, Access::read}, {b, Access::write}});
  make.task({{b, Access::read}, {c, Access::write}});
  make.task({{c, Access::read}});
  const MemoryPlan plan = plan_memory(make.program, MemoryMode::shared_objects, ObjectStrategy::best, 16);
  EXPECT_NE(plan.object_of[a], plan.object_of[b]);
  EXPECT_NE(plan.object_of[a], plan.object_of[c]);
}

}  // namespace
}  // namespace vellum::test
