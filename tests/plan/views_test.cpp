// Parts that are written where the whole wants them, in place of copies.
#include "plan/views.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "plan/programs.hpp"
#include "plan/synchronisation.hpp"

namespace vellum::test {
namespace {

size_t views_of(Program& program, uint64_t alignment = kAlignment) {
  return replace_copies_by_views(program, alignment, [](const Program& p) { return planned(p); });
}

TEST(Views, PartsAreWrittenWhereTheWholeWants) {
  Joined joined(64, 32);
  Program& program = joined.make.program;
  EXPECT_EQ(planned(program), 768u);
  EXPECT_EQ(views_of(program), 2u);
  EXPECT_EQ(program.tasks.size(), 3u);
  EXPECT_EQ(planned(program), 384u);
  EXPECT_EQ(program.root(joined.second), joined.whole);
  EXPECT_EQ(program.offset(joined.second), 256u);
  const MemoryPlan plan = plan_memory(program, {}, tight_rules(kAlignment));
  const std::vector<TaskSync> syncs = synchronise(program, plan);
  EXPECT_FALSE(syncs[1].barrier) << "the parts do not overlap";
  EXPECT_TRUE(syncs[2].barrier);
}

TEST(Views, OffsetsThatCannotBeBoundAreCopied) {
  Joined joined(68, 32);
  EXPECT_EQ(views_of(joined.make.program, 256), 1u) << "the first part begins at 0";
  EXPECT_EQ(joined.make.program.root(joined.second), joined.second);
  EXPECT_EQ(joined.make.program.tasks.size(), 4u);
}

// A kernel writes 66 elements as 68: the last two would fall on the second part.
TEST(Views, PaddingNeverFallsOnANeighbour) {
  Joined joined(66, 32);
  EXPECT_EQ(views_of(joined.make.program), 0u);
  Joined last(64, 30);
  EXPECT_EQ(views_of(last.make.program), 2u) << "there is space after the last section";
}

TEST(Views, PortsAndWhatTheHostTouchesAreCopied) {
  Joined from_host(64, 64);
  from_host.make.program.tasks[0] = {};
  from_host.make.program.tasks[0].host.emplace();
  from_host.make.program.tasks[0].host->outputs = {from_host.first};
  EXPECT_EQ(views_of(from_host.make.program), 1u);
  Joined to_output(64, 64);
  to_output.make.program.tensors[to_output.whole].role = TensorRole::output;
  EXPECT_EQ(views_of(to_output.make.program), 0u);
}

TEST(Views, SplitsStayWhereTheyAre) {
  ProgramMaker make;
  const TensorId whole = make.tensor("whole", linear(64)), low = make.tensor("low", linear(32)),
                 high = make.tensor("high", linear(32));
  make.task({write(whole)});
  for (const TensorId part : {low, high}) {
    make.task({read(whole), write(part)});
    make.program.tasks.back().dispatch->copy = PlainCopy{whole, part, part == low ? 0u : 128u, 0, 128};
  }
  make.task({read(low), read(high)});
  EXPECT_EQ(views_of(make.program), 2u);
  EXPECT_EQ(make.program.tasks.size(), 2u);
  EXPECT_EQ(make.program.offset(high), 128u);
  EXPECT_EQ(planned(make.program), 256u);
}

TEST(Views, OfViewsAddUp) {
  Joined joined(64, 64);
  const TensorId third = joined.make.tensor("third", linear(64)),
                 all = joined.make.tensor("all", linear(192));
  joined.make.task({write(third)});
  for (const auto& [part, offset] : {std::pair<TensorId, uint64_t>{third, 0}, {joined.whole, 256}}) {
    joined.make.task({read(part), write(all)});
    const uint64_t bytes = joined.make.program.tensors[part].desc.byte_size();
    joined.make.program.tasks.back().dispatch->copy = PlainCopy{part, all, 0, offset, bytes};
  }
  joined.make.task({read(all)});
  EXPECT_EQ(views_of(joined.make.program), 4u);
  EXPECT_EQ(joined.make.program.root(joined.second), all);
  EXPECT_EQ(joined.make.program.offset(joined.second), 512u);
  EXPECT_EQ(planned(joined.make.program), 768u);
}

// `first` is small and early; as a view it would hold the memory of the whole while `big` lives.
TEST(Views, CopiesStayWhereViewsWouldTakeMore) {
  ProgramMaker make;
  const TensorId first = make.tensor("first", linear(4)), big = make.tensor("big", linear(400)),
                 little = make.tensor("little", linear(4)), second = make.tensor("second", linear(200)),
                 whole = make.tensor("whole", linear(204));
  make.task({write(first)});
  make.task({write(big)});
  make.task({read(big), write(little)});
  make.task({read(little), write(second)});
  const auto copy = [&](TensorId part, uint64_t offset, uint64_t bytes) {
    make.task({read(part), write(whole)});
    make.program.tasks.back().dispatch->copy = PlainCopy{part, whole, 0, offset, bytes};
  };
  copy(first, 0, 16);
  copy(second, 16, 800);
  make.task({read(whole)});
  const uint64_t before = planned(make.program);
  EXPECT_EQ(views_of(make.program), 0u);
  EXPECT_EQ(planned(make.program), before);
  EXPECT_EQ(make.program.root(first), first);
  EXPECT_EQ(make.program.tasks.size(), 7u);
}

}  // namespace
}  // namespace vellum::test
