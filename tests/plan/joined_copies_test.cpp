// Concatenations as one dispatch or as one for each part.
#include "plan/joined_copies.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "plan/arrange.hpp"
#include "plan/memory_plan.hpp"
#include "plan/programs.hpp"

namespace vellum::test {
namespace {

constexpr uint64_t kJoinAlignment = 16;

// Programs with tensors that are joined.
struct Joins {
  ProgramMaker make;

  TensorId tensor(int64_t elements) {
    return make.tensor("t" + std::to_string(make.program.tensors.size()), linear(elements));
  }
  // A tensor computed from others.
  TensorId computed(int64_t elements, const std::vector<TensorId>& from = {}) {
    std::vector<Binding> bindings;
    for (const TensorId id : from) bindings.push_back({id, Access::read});
    const TensorId y = tensor(elements);
    bindings.push_back({y, Access::write});
    make.task(std::move(bindings));
    return y;
  }
  TensorId joined(const std::vector<TensorId>& parts) {
    int64_t elements = 0;
    std::vector<Dispatch> apart;
    std::vector<Binding> bindings;
    for (const TensorId part : parts) elements += make.program.tensors[part].desc.shape[0];
    const TensorId whole = tensor(elements);
    for (const TensorId part : parts) {
      bindings.push_back({part, Access::read});
      apart.emplace_back().bindings = {{part, Access::read}, {whole, Access::write}};
    }
    bindings.push_back({whole, Access::write});
    make.task(std::move(bindings));
    make.program.tasks.back().dispatch->apart =
        std::make_shared<const std::vector<Dispatch>>(std::move(apart));
    return whole;
  }
};

uint64_t bytes_of(const Program& program) {
  return plan_memory(program, {.mode = MemoryMode::offsets, .strategy = "best"}, tight_rules(kJoinAlignment))
      .planned_bytes;
}

Program arranged(Program program, bool apart = false) {
  if (apart) {
    split_joins(program);
    forget_alternatives(program);
  }
  arrange(program, {.mode = MemoryMode::offsets}, kJoinAlignment, tight_rules(kJoinAlignment));
  return program;
}

// Three parts and the whole, 300 floats each.
TEST(JoinedCopies, PartsAreFreedEarlyWhereThatTakesLess) {
  Joins joins;
  std::vector<TensorId> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(joins.computed(100));
  joins.computed(4, {joins.joined(parts)});
  EXPECT_EQ(bytes_of(joins.make.program), 600 * 4u);
  const Program program = arranged(joins.make.program);
  EXPECT_EQ(program.tasks.size(), 7u) << "three copies";
  EXPECT_EQ(bytes_of(program), 400 * 4u);
}

// The tensors that the parts are computed from are larger than the whole.
TEST(JoinedCopies, PartsStayTogetherWhereThatTakesNoMore) {
  Joins joins;
  std::vector<TensorId> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(joins.computed(100, {joins.computed(400)}));
  joins.computed(4, {joins.joined(parts)});
  const Program program = arranged(joins.make.program);
  EXPECT_EQ(program.tasks.size(), 8u) << "one join";
  EXPECT_LE(bytes_of(program), bytes_of(arranged(joins.make.program, true)));
}

TEST(JoinedCopies, OnlyTheJoinAtThePeakIsSplit) {
  Joins joins;
  const auto join_of = [&](int64_t size, const std::vector<TensorId>& from) {
    std::vector<TensorId> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(joins.computed(size, from));
    return joins.joined(parts);
  };
  const TensorId first = join_of(8, {}), small = joins.computed(4, {first});
  joins.computed(4, {join_of(100, {small})});
  const Program program = arranged(joins.make.program);
  EXPECT_EQ(program.tasks.size(), 3u + 1 + 1 + 3 + 3 + 1) << "the first is one dispatch, the second three";
  EXPECT_EQ(bytes_of(program), bytes_of(arranged(joins.make.program, true)));
}

TEST(JoinedCopies, NothingIsKeptOfWhatWasNotChosen) {
  Joins joins;
  joins.computed(4, {joins.joined({joins.computed(100), joins.computed(100)})});
  for (const MemoryMode mode : {MemoryMode::naive, MemoryMode::offsets}) {
    Program program = joins.make.program;
    arrange(program, {.mode = mode}, kJoinAlignment, tight_rules(kJoinAlignment));
    for (const Task& task : program.tasks) {
      EXPECT_EQ(task.dispatch->apart, nullptr);
      EXPECT_EQ(task.dispatch->together, nullptr);
    }
  }
}

// Parts of equal size, the copies of which may become views.
Program joined_by_plain_copies(int64_t part_elements, size_t count) {
  Joins joins;
  std::vector<TensorId> parts;
  for (size_t i = 0; i < count; ++i) parts.push_back(joins.computed(part_elements));
  joins.computed(4, {joins.joined(parts)});
  Dispatch& join = *joins.make.program.tasks[count].dispatch;
  auto apart = std::make_shared<std::vector<Dispatch>>(*join.apart);
  const auto bytes = static_cast<uint64_t>(part_elements) * 4;
  for (size_t i = 0; i < count; ++i) {
    const TensorId from = (*apart)[i].bindings[0].tensor, to = (*apart)[i].bindings[1].tensor;
    (*apart)[i].copy = PlainCopy{from, to, 0, i * bytes, bytes};
  }
  join.apart = std::move(apart);
  return joins.make.program;
}

TEST(JoinedCopies, PartsThatBecomeViewsAreNotJoined) {
  const Program program = arranged(joined_by_plain_copies(100, 3));
  EXPECT_EQ(program.tasks.size(), 3u + 1) << "no copies";
  EXPECT_EQ(bytes_of(program), 300 * 4u + 4 * 4u) << "the whole and what is computed from it";
}

// Only the first of two parts begins where a view may: one copy remains, as with the join, but of fewer
// bytes.
TEST(JoinedCopies, AViewIsBetterThanAJoinOfAsManyDispatches) {
  Program program = joined_by_plain_copies(100, 2);
  arrange(program, {.mode = MemoryMode::offsets}, 64, tight_rules(kJoinAlignment));
  EXPECT_EQ(program.tasks.size(), 2u + 1 + 1);
  EXPECT_EQ(program.tasks[2].dispatch->bindings.size(), 2u) << "a copy of one part";
}

// The tensors that a tensor's contents are computed from, by the tasks in their order.
std::vector<std::multiset<TensorId>> contents(const Program& program) {
  std::vector<std::multiset<TensorId>> found(program.tensors.size());
  for (const Task& task : program.tasks) {
    TensorId y = kNoTensor;
    for (const Binding& binding : task.dispatch->bindings)
      if (binding.access == Access::write) y = binding.tensor;
    if (found[y].empty()) found[y].insert(y);
    for (const Binding& binding : task.dispatch->bindings)
      if (binding.access == Access::read)
        found[y].insert(found[binding.tensor].begin(), found[binding.tensor].end());
  }
  return found;
}

TEST(JoinedCopies, RandomProgramsTakeNoMoreThanApart) {
  size_t split = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 dice(seed);
    Joins joins;
    std::vector<TensorId> tensors{joins.computed(40)};
    const auto any = [&] { return tensors[dice() % tensors.size()]; };
    for (int i = 0; i < 5; ++i) {
      std::vector<TensorId> parts;
      for (size_t count = 2 + dice() % 3; parts.size() < count;)
        parts.push_back(joins.computed(4 + 4 * static_cast<int64_t>(dice() % 20), {any()}));
      tensors.push_back(joins.computed(4 + 4 * static_cast<int64_t>(dice() % 20), {joins.joined(parts)}));
    }
    joins.computed(4, {any(), tensors.back()});
    const Program& before = joins.make.program;
    const Program after = arranged(before);
    EXPECT_LE(bytes_of(after), bytes_of(arranged(before, true)));
    EXPECT_LE(bytes_of(after), bytes_of(before));
    EXPECT_EQ(contents(after), contents(before));
    split += after.tasks.size() > before.tasks.size();
  }
  EXPECT_GT(split, 0u);
  EXPECT_LT(split, 60u);
}

}  // namespace
}  // namespace vellum::test
