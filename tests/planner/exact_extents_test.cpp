// The exact search for textures whose extents are not nested: agreement with looking at every plan there is.
#include "objects/exact_extents.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "objects/exact.hpp"
#include "problem.hpp"
#include "records_for_tests.hpp"

namespace vellum::planner::test {
namespace {

constexpr TexelFormat kTexel{1, 16};

// `most` textures or fewer, of sides up to 6. With `choices`, each may have one of up to three extents.
std::vector<TensorUsageRecord> few_textures(uint32_t seed, uint32_t most, bool choices = false) {
  std::mt19937 dice(seed);
  const auto side = [&] { return static_cast<uint32_t>(1 + dice() % 6); };
  std::vector<TensorUsageRecord> records(3 + dice() % (most - 2));
  for (TensorUsageRecord& record : records) {
    const uint32_t width = side(), height = side();
    record.size = Texture2D{width, height, kTexel};
    record.first_task = static_cast<int64_t>(dice() % 10);
    record.last_task = record.first_task + static_cast<int64_t>(dice() % 4);
    for (uint32_t others = choices ? static_cast<uint32_t>(dice() % 3) : 0; others > 0; --others) {
      const uint32_t other_width = side(), other_height = side();
      record.other_extents.push_back({other_width, other_height, kTexel});
    }
  }
  return records;
}

// By every way of dividing the records among textures.
uint64_t smallest_textures(const std::vector<TensorUsageRecord>& records) {
  struct Shared {
    uint64_t width = 0, height = 0;
    std::vector<size_t> records;
  };
  std::vector<Shared> textures;
  uint64_t best = UINT64_MAX;
  const std::function<void(size_t)> divide = [&](size_t next) {
    uint64_t total = 0;
    for (const Shared& texture : textures) total += texture.width * texture.height * kTexel.bytes_per_texel;
    if (total >= best) return;
    if (next == records.size()) {
      best = total;
      return;
    }
    std::vector<Texture2D> extents = records[next].other_extents;
    extents.push_back(std::get<Texture2D>(records[next].size));
    // With each of its extents.
    const auto put = [&](size_t k) {
      const Shared before = textures[k];
      for (const Texture2D& extent : extents) {
        textures[k].width = std::max<uint64_t>(before.width, extent.width);
        textures[k].height = std::max<uint64_t>(before.height, extent.height);
        textures[k].records.push_back(next);
        divide(next + 1);
        textures[k] = before;
      }
    };
    const auto meets = [&](size_t other) {
      return records[other].first_task <= records[next].last_task &&
             records[next].first_task <= records[other].last_task;
    };
    for (size_t k = 0; k < textures.size(); ++k) {
      if (std::ranges::any_of(textures[k].records, meets)) continue;
      put(k);
    }
    textures.emplace_back();
    put(textures.size() - 1);
    textures.pop_back();
  };
  divide(0);
  return best;
}

TEST(ExactExtents, AgreeWithEveryPlanOfFewTextures) {
  size_t searched = 0;  // greedy strategies find many smallest plans
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto records = few_textures(seed, 9);
    const ObjectPlan greedy = plan_objects(records, ObjectStrategy::best);
    const ObjectPlan plan =
        plan_objects(records, ObjectStrategy::exact, PlanOptions{.search_budget = std::chrono::minutes(1)});
    validate(records, plan);
    EXPECT_TRUE(plan.proved_optimal);
    ASSERT_EQ(plan.total_bytes, smallest_textures(records));
    searched += plan.total_bytes < greedy.total_bytes;
  }
  EXPECT_GT(searched, 3u);
}

TEST(ExactExtents, AgreeWithEveryChoiceOfExtents) {
  size_t smaller = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto records = few_textures(seed, 7, true);
    const PlanOptions options{.search_budget = std::chrono::minutes(1)};
    const ObjectPlan plan = plan_objects(records, ObjectStrategy::exact, options);
    validate(records, plan);
    EXPECT_TRUE(plan.proved_optimal);
    ASSERT_EQ(plan.total_bytes, smallest_textures(records));
    for (TensorUsageRecord& record : records) record.other_extents.clear();
    const ObjectPlan without = plan_objects(records, ObjectStrategy::exact, options);
    EXPECT_LE(plan.total_bytes, without.total_bytes);
    smaller += plan.total_bytes < without.total_bytes;
  }
  EXPECT_GT(smaller, 100u);
}

// The one of docs/planner.md.
TEST(ExactExtents, FoldedTexturesShare) {
  const std::vector<TensorUsageRecord> records = {
      {Texture2D{64, 384, kTexel}, 0, 1, {{128, 192, kTexel}, {256, 96, kTexel}}},
      {Texture2D{128, 192, kTexel}, 2, 3}};
  const ObjectPlan plan = plan_objects(records, ObjectStrategy::greedy_by_size);
  validate(records, plan);
  EXPECT_EQ(plan.objects, (std::vector<Size>{Texture2D{128, 192, kTexel}}));
  EXPECT_EQ(plan.size_of, (std::vector<Size>{Texture2D{128, 192, kTexel}, Texture2D{128, 192, kTexel}}));
}

// Whatever is left undone.
TEST(ExactExtents, BoundsHoldWhereTheBudgetEndsTheSearch) {
  size_t unproved = 0;
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const bool choices = seed > 60;
    const auto records = few_textures(seed, choices ? 7 : 9, choices);
    const uint64_t smallest = smallest_textures(records);
    const auto classes = detail::classify(records, {});
    ASSERT_EQ(classes.size(), 1u);
    for (const int64_t steps : {1, 100, 300, 1'000, 3'000, 10'000}) {
      const auto start = std::chrono::steady_clock::time_point();
      detail::SearchBudget budget(std::chrono::milliseconds(1), [=] { return start; });
      budget.spend(budget.steps_left() - steps);
      detail::ObjectAssignment each_alone(records.size());
      std::iota(each_alone.begin(), each_alone.end(), 0u);
      const detail::ExactObjects found = detail::improve_objects(classes[0], each_alone, 0, budget);
      EXPECT_LE(found.lower_bound, smallest) << steps << " steps";
      unproved += found.lower_bound < smallest;
    }
  }
  EXPECT_GT(unproved, 30u);
}

// Most tensors of a network live for a task or two.
TEST(ExactExtents, ProvePlansOfTexturesByTheDozen) {
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 dice(seed);
    std::vector<TensorUsageRecord> records;
    for (int64_t task = 0; task < 60; ++task) {
      const uint32_t width = 32u << dice() % 3, height = 32u << dice() % 3;
      const int64_t tasks = dice() % 4 == 0 ? 4 : 1;
      records.push_back({Texture2D{width, height, kTexel}, task, task + tasks});
    }
    const PlanOptions options{.search_budget = std::chrono::minutes(1)};
    const ObjectPlan plan = plan_objects(records, ObjectStrategy::exact, options);
    validate(records, plan);
    EXPECT_TRUE(plan.proved_optimal);
    EXPECT_GT(plan.total_bytes, objects_lower_bound(records)) << "the bound alone proves it";
  }
}

}  // namespace
}  // namespace vellum::planner::test
