// In place, views and orders, on small programs made by hand.
#include "plan/arrange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "plan/fold_textures.hpp"
#include "plan/in_place.hpp"
#include "plan/lifetimes.hpp"
#include "plan/order.hpp"
#include "plan/programs.hpp"
#include "plan/synchronisation.hpp"
#include "plan/views.hpp"

namespace vellum::test {
namespace {

constexpr uint64_t kAlignment = 16;

Binding in_place(TensorId id) { return {.tensor = id, .same_position = true}; }
Binding read(TensorId id) { return {id, Access::read}; }
Binding write(TensorId id) { return {id, Access::write}; }

uint64_t planned(const Program& program, MemoryMode mode = MemoryMode::offsets) {
  return plan_memory(program, {.mode = mode}, tight_rules(kAlignment)).planned_bytes;
}

// a -> b -> c, all of 64 floats, elementwise.
struct Chain {
  ProgramMaker make;
  TensorId a, b, c;
  explicit Chain(TensorDesc of_b = linear(64)) {
    a = make.tensor("a", linear(64)), b = make.tensor("b", std::move(of_b)), c = make.tensor("c", linear(64));
    make.task({write(a)});
    make.task({in_place(a), write(b)});
    make.task({in_place(b), write(c)});
    make.task({read(c)});
  }
};

TEST(InPlace, ElementwiseChainNeedsOneTensor) {
  Chain chain;
  EXPECT_EQ(planned(chain.make.program), 512u);
  alias_in_place(chain.make.program);
  EXPECT_EQ(planned(chain.make.program), 256u);
  EXPECT_EQ(planned(chain.make.program, MemoryMode::shared_objects), 256u);
  const MemoryPlan plan = plan_memory(chain.make.program, {}, tight_rules(kAlignment));
  EXPECT_EQ(plan.objects.size(), 1u);
  EXPECT_EQ(plan.objects[0].tensors, (std::vector<TensorId>{chain.a, chain.b, chain.c}));
  EXPECT_EQ(plan.lifetimes[chain.b].first, 1) << "each tensor keeps its own lifetime";
  EXPECT_EQ(plan.lifetimes[chain.b].last, 2);
}

TEST(InPlace, InputThatIsReadLaterIsKept) {
  Chain chain;
  chain.make.task({read(chain.a)});
  alias_in_place(chain.make.program);
  EXPECT_EQ(chain.make.program.tensors[chain.b].in_place_of, kNoTensor);
  EXPECT_EQ(chain.make.program.tensors[chain.c].in_place_of, chain.b);
}

TEST(InPlace, OtherSizesFormatsAndReadsAreKept) {
  Chain other_size(linear(32));
  alias_in_place(other_size.make.program);
  EXPECT_EQ(other_size.make.program.tensors[other_size.b].in_place_of, kNoTensor);

  // 64 floats each, in images that are wide or tall.
  ProgramMaker make;
  const TensorId wide = make.tensor("wide", image(4, 2, 8)), tall = make.tensor("tall", image(4, 8, 2)),
                 same = make.tensor("same", image(4, 8, 2)), seen = make.tensor("seen", image(4, 8, 2));
  make.task({write(wide)});
  make.task({in_place(wide), write(tall)});
  make.task({{.tensor = tall, .sampled = true, .same_position = true}, write(same)});
  make.task({in_place(same), read(same), write(seen)});
  make.task({read(seen)});
  alias_in_place(make.program);
  EXPECT_EQ(make.program.tensors[tall].in_place_of, kNoTensor) << "another extent";
  EXPECT_EQ(make.program.tensors[same].in_place_of, kNoTensor) << "through a sampler";
  EXPECT_EQ(make.program.tensors[seen].in_place_of, kNoTensor) << "also read elsewhere";
}

TEST(InPlace, ImageIsNotDiscardedWhereItIsWrittenOver) {
  ProgramMaker make;
  const TensorId a = make.tensor("a", image(4, 8, 8)), b = make.tensor("b", image(4, 8, 8));
  make.task({write(a)});
  make.task({in_place(a), write(b)});
  make.task({read(b)});
  alias_in_place(make.program);
  for (const MemoryMode mode : {MemoryMode::shared_objects, MemoryMode::offsets}) {
    const MemoryPlan plan = plan_memory(make.program, {.mode = mode}, tight_rules(kAlignment));
    EXPECT_EQ(plan.object_of[a], plan.object_of[b]);
    const std::vector<TaskSync> syncs = synchronise(make.program, plan);
    EXPECT_EQ(syncs[0].discarded_objects.size(), 1u);
    EXPECT_TRUE(syncs[1].discarded_objects.empty());
    EXPECT_TRUE(syncs[1].barrier);
    EXPECT_TRUE(syncs[2].barrier);
  }
}

// Two parts of `sizes` floats, joined by copies and read.
struct Joined {
  ProgramMaker make;
  TensorId first, second, whole;
  Joined(int64_t first_size, int64_t second_size) {
    first = make.tensor("first", linear(first_size)), second = make.tensor("second", linear(second_size));
    whole = make.tensor("whole", linear(first_size + second_size));
    make.task({write(first)});
    make.task({write(second)});
    copy(first, 0);
    copy(second, static_cast<uint64_t>(first_size) * 4);
    make.task({read(whole)});
  }
  void copy(TensorId part, uint64_t offset) {
    make.task({read(part), write(whole)});
    const uint64_t bytes = static_cast<uint64_t>(element_count(make.program.tensors[part].desc.shape)) * 4;
    make.program.tasks.back().dispatch->copy = PlainCopy{part, whole, 0, offset, bytes};
  }
};

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

// Two branches from one tensor: each makes a large tensor and shrinks it. One after the other, only one large
// tensor lives at a time.
struct Branches {
  ProgramMaker make;
  Branches() {
    const TensorId start = make.tensor("start", linear(4));
    const TensorId large[] = {make.tensor("large 0", linear(400)), make.tensor("large 1", linear(400))};
    const TensorId small[] = {make.tensor("small 0", linear(4)), make.tensor("small 1", linear(4))};
    make.task({write(start)});
    for (const TensorId id : large) make.task({read(start), write(id)});
    for (size_t i = 0; i < 2; ++i) make.task({read(large[i]), write(small[i])});
    make.task({read(small[0]), read(small[1])});
  }
};

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

TEST(Arrange, NaiveStaysAsItIs) {
  Joined joined(64, 64);
  arrange(joined.make.program, {.mode = MemoryMode::naive}, kAlignment, tight_rules(kAlignment));
  EXPECT_EQ(joined.make.program.tasks.size(), 5u);
}

TEST(Arrange, EachWayCanBeSwitchedOff) {
  const ArrangeOptions off{MemoryMode::offsets, false, false, false};
  Joined joined(64, 64);
  arrange(joined.make.program, off, kAlignment, tight_rules(kAlignment));
  EXPECT_EQ(joined.make.program.tasks.size(), 5u);
  Chain chain;
  arrange(chain.make.program, off, kAlignment, tight_rules(kAlignment));
  EXPECT_EQ(planned(chain.make.program), 512u);
  Branches branches;
  arrange(branches.make.program, off, kAlignment, tight_rules(kAlignment));
  EXPECT_GE(planned(branches.make.program), 3200u);
}

// a -> b -> c: 128x512, 64x1024 and 64x1024 texels.
struct Aspects {
  ProgramMaker make;
  Aspects() {
    const TensorId a = make.tensor("a", image(16, 128, 128)), b = make.tensor("b", image(64, 64, 64)),
                   c = make.tensor("c", image(64, 64, 64)),
                   w = make.tensor("w", image(4, 8, 8), TensorRole::weight);
    task({{a, Access::write}});
    task({{a, Access::read}, {w, Access::read}, {b, Access::write}});
    task({{b, Access::read}, {c, Access::write}});
    task({{.tensor = c, .sampled = true}});
  }
  void task(std::vector<Binding> bindings) {
    for (size_t i = 0; i < bindings.size(); ++i)
      bindings[i].name = std::string(1, static_cast<char>('p' + i));
    make.task(bindings);
    for (const Binding& binding : bindings)
      make.program.tasks.back().dispatch->defines.emplace_back(
          "STORAGE_" + binding.name, storage_macro(make.program.tensors[binding.tensor].desc, binding));
  }
  std::vector<std::string> macros() const {
    std::vector<std::string> macros;
    for (const Task& each : make.program.tasks)
      for (const auto& [name, value] : each.dispatch->defines) macros.push_back(value);
    return macros;
  }
};

constexpr uint64_t kTexels = 128 * 512 * 16;  // bytes of each tensor

TEST(Arrange, FoldsImagesWhereThatTakesLess) {
  Aspects aspects;
  EXPECT_EQ(planned(aspects.make.program, MemoryMode::shared_objects), 3 * kTexels);
  const std::vector<std::string> before = aspects.macros();
  Program same = aspects.make.program;
  arrange(same, {.fold = false}, kAlignment, tight_rules(kAlignment));
  EXPECT_EQ(planned(same, MemoryMode::shared_objects), 3 * kTexels);
  arrange(aspects.make.program, {}, kAlignment, tight_rules(kAlignment));
  EXPECT_EQ(planned(aspects.make.program, MemoryMode::shared_objects), 2 * kTexels);
  const std::string plain = "IMAGE2D", folded = "FOLDED_IMAGE2D";
  EXPECT_EQ(before, (std::vector<std::string>{plain, plain, plain, plain, plain, plain, "IMAGE2D_SAMPLED"}));
  EXPECT_EQ(aspects.macros(), (std::vector<std::string>{folded, folded, plain, folded, folded, folded,
                                                        "FOLDED_IMAGE2D_SAMPLED"}));
}

TEST(Arrange, LeavesImagesWhereFoldingTakesNoLess) {
  Aspects arenas;  // whose tensors have images of their own
  const std::vector<std::string> before = arenas.macros();
  arrange(arenas.make.program, {.mode = MemoryMode::offsets}, kAlignment, tight_rules(kAlignment));
  EXPECT_EQ(arenas.macros(), before);
  ProgramMaker alike;
  const TensorId a = alike.tensor("a", image(16, 8, 8)), b = alike.tensor("b", image(16, 8, 8));
  alike.task({write(a)});
  alike.task({read(a), write(b)});
  arrange(alike.program, {}, kAlignment, tight_rules(kAlignment));
  EXPECT_EQ(alike.program.tensors[a].desc.fold, 0u);
}

TEST(Arrange, FoldsSlicesOfMoreThanOneTexel) {
  ProgramMaker make;
  const TensorId vector = make.tensor("a", image(64, 1, 1)), row = make.tensor("b", image(64, 1, 2)),
                 slice = make.tensor("c", image(4, 8, 8));
  make.task({write(vector), write(row), write(slice)});
  const std::vector<TensorId> folded = fold_textures(make.program);
  EXPECT_EQ(folded, std::vector<TensorId>{row});
  unfold_textures(make.program, folded);
  EXPECT_EQ(make.program.tensors[row].desc.fold, 0u);
}

TEST(InPlace, FoldedImagesOfOtherShapesAreKept) {
  for (const uint32_t fold : {0u, 1u}) {
    TensorDesc of_a = image(16, 4, 8), of_b = image(8, 8, 8);
    of_a.fold = of_b.fold = fold;
    ASSERT_EQ(of_a.extent(), of_b.extent());
    ProgramMaker make;
    const TensorId a = make.tensor("a", of_a), b = make.tensor("b", of_b), c = make.tensor("c", of_b);
    make.task({write(a)});
    make.task({in_place(a), write(b)});
    make.task({in_place(b), write(c)});
    make.task({read(c)});
    alias_in_place(make.program);
    EXPECT_EQ(make.program.tensors[b].in_place_of, fold == 0 ? a : kNoTensor);
    EXPECT_EQ(make.program.tensors[c].in_place_of, b);
  }
}

TEST(UsageRecords, FoldedImagesMayHaveSlicesSideBySide) {
  TensorDesc desc = image(24, 64, 64);
  desc.fold = 1;
  ProgramMaker make;
  make.task({write(make.tensor("a", desc))});
  const UsageRecords usage = usage_records(make.program);
  ASSERT_EQ(usage.records.size(), 1u);
  const auto size = std::get<planner::Texture2D>(usage.records[0].size);
  const auto texture = [&](uint32_t width, uint32_t height) {
    return planner::Texture2D{width, height, size.format};
  };
  EXPECT_EQ(size, texture(64, 384));
  EXPECT_EQ(usage.records[0].other_extents,
            (std::vector{texture(128, 192), texture(256, 128), texture(512, 64)}));
}

}  // namespace
}  // namespace vellum::test
