#include "plan/memory_plan.hpp"

#include <gtest/gtest.h>

#include "plan/programs.hpp"
#include "plan/synchronisation.hpp"
#include "vellum/error.hpp"

namespace vellum::test {
namespace {

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
  const MemoryPlan plan = plan_memory(make.program, {}, tight_rules(16));
  EXPECT_EQ(plan.object_of[view], plan.object_of[root]);
  EXPECT_NE(plan.object_of[other], plan.object_of[root]);
}

TEST(Lifetimes, HostPartitionsCountAsTasks) {
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
  const MemoryPlan plan = plan_memory(program, {.strategy = "greedy_by_size_improved"}, tight_rules(16));
  EXPECT_EQ(plan.objects.size(), 2u);
  EXPECT_EQ(plan.planned_bytes, 512u);
  EXPECT_EQ(plan.naive_bytes, 768u);
  EXPECT_EQ(plan.lower_bound_bytes, 512u);
  EXPECT_EQ(plan.object_of[1], plan.object_of[3]) << "a is dead when c is written";
  EXPECT_EQ(plan.object_of[0], kNoObject);
}

TEST(MemoryPlan, NaiveGivesEachTensorItsOwn) {
  const MemoryPlan plan = plan_memory(chain().program, {.mode = MemoryMode::naive}, tight_rules(16));
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
  const MemoryPlan plan = plan_memory(make.program, {}, tight_rules(16));
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
  const MemoryPlan plan = plan_memory(make.program, {}, tight_rules(16));
  EXPECT_NE(plan.object_of[a], plan.object_of[b]);
  EXPECT_NE(plan.object_of[a], plan.object_of[c]);
}

// a (64 elements) dies at task 1, before c (32) and d (32) begin: they reuse its memory.
TEST(MemoryPlan, OffsetsPutLaterTensorsWhereEarlierOnesLay) {
  ProgramMaker make;
  const TensorId a = make.tensor("a", linear(64)), b = make.tensor("b", linear(64)),
                 c = make.tensor("c", linear(32)), d = make.tensor("d", linear(32));
  make.task({{a, Access::write}});
  make.task({{a, Access::read}, {b, Access::write}});
  make.task({{b, Access::read}, {c, Access::write}});
  make.task({{b, Access::read}, {c, Access::read}, {d, Access::write}});
  const MemoryPlan plan = plan_memory(make.program, {.mode = MemoryMode::offsets}, tight_rules(16));
  EXPECT_EQ(plan.objects.size(), 4u) << "each tensor has an object of its own";
  EXPECT_EQ(plan.arenas.size(), 1u);
  EXPECT_EQ(plan.planned_bytes, 512u);
  EXPECT_EQ(plan.planned_bytes, plan.lower_bound_bytes);
  EXPECT_EQ(plan.naive_bytes, 768u);
  const auto syncs = synchronise(make.program, plan);
  EXPECT_TRUE(syncs[2].barrier) << "c aliases a, which task 1 reads";
}

TEST(MemoryPlan, OffsetsOfImagesHaveTheDevicesSizesAndAlignment) {
  ProgramMaker make;
  const TensorId a = make.tensor("a", image(4, 5, 5)), b = make.tensor("b", linear(8));
  make.task({{a, Access::write}});
  make.task({{a, Access::read}, {b, Access::write}});
  DeviceCaps caps;
  caps.memory = {4, 4, 64, 16, 64};
  caps.buffer_image_granularity = 1024;
  const MemoryPlan plan = plan_memory(make.program, {.mode = MemoryMode::offsets}, modelled_rules(caps));
  EXPECT_EQ(plan.objects[plan.object_of[a]].need.bytes, 1024u) << "8 x 8 texels of 16 bytes";
  EXPECT_EQ(plan.objects[plan.object_of[b]].need.bytes, 1024u) << "nothing else may share its granule";
  for (const SharedObject& object : plan.objects) EXPECT_EQ(object.place.offset % 1024, 0u);
  EXPECT_EQ(plan.planned_bytes, 2048u);
}

TEST(MemoryPlan, ArenasAreSplitAtTheLimitAndByMemoryType) {
  const std::vector<planner::TensorUsageRecord> records = {{planner::Bytes{64}, 0, 1},
                                                           {planner::Bytes{64}, 0, 1},
                                                           {planner::Bytes{64}, 0, 1},
                                                           {planner::Bytes{64}, 2, 2}};
  std::vector<MemoryNeed> needs(4, MemoryNeed{64, 16, 1});
  MemoryRules rules = tight_rules(16);
  rules.max_allocation_bytes = 128;
  const auto place = [&] {
    return place_by_lifetime(records, needs, rules, planner::OffsetStrategy::greedy_by_size, {});
  };
  Placement placement = place();
  EXPECT_EQ(placement.arenas.size(), 2u);
  EXPECT_EQ(placement.total_bytes(), 192u);
  for (const PlannedArena& arena : placement.arenas) EXPECT_LE(arena.bytes, 128u);
  needs[0].memory_types = 2;
  rules.max_allocation_bytes = 1024;
  placement = place();
  EXPECT_EQ(placement.arenas.size(), 2u);
  EXPECT_NE(placement.places[0].arena, placement.places[1].arena);
  placement = place_side_by_side(needs, rules);
  EXPECT_EQ(placement.total_bytes(), 256u);
  EXPECT_NE(placement.places[0].arena, placement.places[1].arena);
  needs[2].bytes = 2048;
  EXPECT_THROW(place(), Error);
}

}  // namespace
}  // namespace vellum::test
