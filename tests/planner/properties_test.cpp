// Properties of every strategy on any records. Seeds are printed with each failure.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "records_for_tests.hpp"

namespace vellum::planner::test {
namespace {

constexpr uint64_t kRounds = 12;

// Calls check(records, options) on random records of every shape and several alignments.
template <typename Check>
void on_random_records(bool textures, Check check) {
  for (const RandomShape& shape : random_shapes()) {
    if (shape.textures && !textures) continue;
    for (uint64_t seed = 1; seed <= kRounds; ++seed) {
      for (const uint64_t alignment : {1, 256}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", count " + std::to_string(shape.count) + ", tasks " +
                     std::to_string(shape.tasks) + ", alignment " + std::to_string(alignment));
        PlanOptions options;
        options.alignment = alignment;
        check(RandomRecords(seed)(shape), options);
      }
    }
  }
}

template <typename Plan>
void expect_between_bound_and_naive(const std::vector<TensorUsageRecord>& records, const PlanOptions& options,
                                    const Plan& plan, uint64_t bound) {
  EXPECT_NO_THROW(validate(records, plan, options));
  EXPECT_GE(plan.total_bytes, bound);
  EXPECT_LE(plan.total_bytes, naive_bytes(records, options));
  EXPECT_GE(plan.lower_bound, bound);
  EXPECT_LE(plan.lower_bound, plan.total_bytes);
  EXPECT_EQ(plan.proved_optimal, plan.total_bytes == plan.lower_bound);
}

TEST(PlannerProperties, ObjectPlansAreValidAndBetweenBoundAndNaive) {
  on_random_records(true, [](const std::vector<TensorUsageRecord>& records, const PlanOptions& options) {
    for (const ObjectStrategy strategy : all_object_strategies()) {
      SCOPED_TRACE(name(strategy));
      expect_between_bound_and_naive(records, options, plan_objects(records, strategy, options),
                                     objects_lower_bound(records, options));
    }
  });
}

TEST(PlannerProperties, OffsetPlansAreValidAndBetweenBoundAndNaive) {
  on_random_records(false, [](const std::vector<TensorUsageRecord>& records, const PlanOptions& options) {
    for (const OffsetStrategy strategy : all_offset_strategies()) {
      SCOPED_TRACE(name(strategy));
      expect_between_bound_and_naive(records, options, plan_offsets(records, strategy, options),
                                     offsets_lower_bound(records, options));
    }
  });
}

TEST(PlannerProperties, TheSameInputGivesTheSamePlan) {
  on_random_records(true, [](const std::vector<TensorUsageRecord>& records, const PlanOptions& options) {
    for (const ObjectStrategy strategy : all_object_strategies()) {
      const ObjectPlan once = plan_objects(records, strategy, options),
                       again = plan_objects(records, strategy, options);
      EXPECT_EQ(once.object_of, again.object_of) << name(strategy);
      EXPECT_EQ(once.objects, again.objects) << name(strategy);
    }
  });
  on_random_records(false, [](const std::vector<TensorUsageRecord>& records, const PlanOptions& options) {
    for (const OffsetStrategy strategy : all_offset_strategies()) {
      EXPECT_EQ(plan_offsets(records, strategy, options).offset_of,
                plan_offsets(records, strategy, options).offset_of)
          << name(strategy);
    }
  });
}

TEST(PlannerProperties, TheOrderOfRecordsDoesNotMatterForValidityAndBounds) {
  on_random_records(true, [](std::vector<TensorUsageRecord> records, const PlanOptions& options) {
    const uint64_t bound = objects_lower_bound(records, options);
    std::shuffle(records.begin(), records.end(), std::mt19937_64(records.size()));
    EXPECT_EQ(objects_lower_bound(records, options), bound);
    for (const ObjectStrategy strategy : all_object_strategies()) {
      EXPECT_NO_THROW(validate(records, plan_objects(records, strategy, options), options)) << name(strategy);
    }
  });
}

// Bounds by their definitions, task by task.
TEST(PlannerProperties, BoundsEqualTheirDefinitions) {
  on_random_records(false, [](const std::vector<TensorUsageRecord>& records, const PlanOptions& options) {
    int64_t tasks = 0;
    for (const auto& record : records) tasks = std::max(tasks, record.last_task + 1);
    std::vector<uint64_t> maxima;
    uint64_t breadth = 0;
    for (int64_t task = 0; task < tasks; ++task) {
      std::vector<uint64_t> live;
      for (const auto& record : records) {
        if (record.first_task > task || record.last_task < task) continue;
        live.push_back((byte_size(record.size) + options.alignment - 1) / options.alignment *
                       options.alignment);
      }
      breadth = std::max(breadth, std::accumulate(live.begin(), live.end(), uint64_t{0}));
      std::sort(live.rbegin(), live.rend());
      maxima.resize(std::max(maxima.size(), live.size()));
      for (size_t i = 0; i < live.size(); ++i) maxima[i] = std::max(maxima[i], live[i]);
    }
    EXPECT_EQ(offsets_lower_bound(records, options), breadth);
    EXPECT_EQ(objects_lower_bound(records, options),
              std::accumulate(maxima.begin(), maxima.end(), uint64_t{0}));
  });
}

TEST(PlannerProperties, AChainOfEqualTensorsNeedsTwoObjects) {
  std::vector<TensorUsageRecord> records;
  for (int64_t i = 0; i < 100; ++i) records.push_back(bytes_record(64, i, i + 1));
  for (const ObjectStrategy strategy : all_object_strategies()) {
    if (strategy == ObjectStrategy::naive) continue;
    const ObjectPlan plan = plan_objects(records, strategy);
    EXPECT_EQ(plan.objects.size(), 2u) << name(strategy);
    EXPECT_TRUE(plan.proved_optimal) << name(strategy);
  }
}

TEST(PlannerProperties, TexturesOfDifferentKindOrFormatNeverShare) {
  const std::vector<TensorUsageRecord> records = {{Texture2D{4, 4, {1, 16}}, 0, 0},
                                                  {Texture2D{4, 4, {2, 16}}, 1, 1},
                                                  {Texture2D{4, 4, {1, 8}}, 2, 2},
                                                  {Texture3D{4, 4, 1, {1, 16}}, 3, 3},
                                                  {Bytes{256}, 4, 4},
                                                  {Texture2D{4, 4, {1, 16}}, 5, 5}};
  for (const ObjectStrategy strategy : all_object_strategies()) {
    if (strategy == ObjectStrategy::naive) continue;
    const ObjectPlan plan = plan_objects(records, strategy);
    validate(records, plan);
    EXPECT_EQ(plan.objects.size(), 5u) << name(strategy);
    EXPECT_EQ(plan.object_of[0], plan.object_of[5]) << name(strategy);
  }
}

// In execution order the tensor of 50 bytes takes the object of 100, and the one of 60 has to grow the object
// of 10.
TEST(PlannerProperties, MinCostFlowLooksAhead) {
  const std::vector<TensorUsageRecord> records = {bytes_record(100, 0, 0), bytes_record(10, 0, 0),
                                                  bytes_record(50, 1, 3), bytes_record(60, 2, 3)};
  EXPECT_EQ(plan_objects(records, ObjectStrategy::greedy_in_order).total_bytes, 160u);
  const ObjectPlan plan = plan_objects(records, ObjectStrategy::min_cost_flow);
  validate(records, plan);
  EXPECT_EQ(plan.total_bytes, 150u);
}

// A loop whose iterations leave a result each, with the flow's advantage of the test above before it.
TEST(PlannerProperties, MinCostFlowGivesUpWhereItWouldTakeSeconds) {
  const auto loop = [](uint32_t iterations) {
    std::vector<TensorUsageRecord> records = {bytes_record(100, 0, 0), bytes_record(10, 0, 0),
                                              bytes_record(50, 1, 3), bytes_record(60, 2, 3)};
    const uint32_t begin = 5, end = begin + 3 * iterations;
    for (uint32_t at = begin; at < end; at += 3) {
      records.push_back(bytes_record(16, at, at + 1));
      records.push_back(bytes_record(16, at + 1, at + 4));
      records.push_back(bytes_record(16, at + 2, end));
    }
    return records;
  };
  const auto total = [](const std::vector<TensorUsageRecord>& records, ObjectStrategy strategy) {
    const ObjectPlan plan = plan_objects(records, strategy);
    validate(records, plan);
    return plan.total_bytes;
  };
  EXPECT_LT(total(loop(10), ObjectStrategy::min_cost_flow), total(loop(10), ObjectStrategy::greedy_in_order));
  EXPECT_EQ(total(loop(660), ObjectStrategy::min_cost_flow),
            total(loop(660), ObjectStrategy::greedy_in_order));
}

// Growing a long flat texture by a tall narrow one would cost more than a second texture.
TEST(PlannerProperties, ATextureGrowsOnlyWhereThatIsCheaperThanANewOne) {
  const TexelFormat format{1, 16};
  const std::vector<TensorUsageRecord> crossed = {{Texture2D{100, 1, format}, 0, 0},
                                                  {Texture2D{1, 100, format}, 1, 1}};
  const std::vector<TensorUsageRecord> alike = {{Texture2D{100, 90, format}, 0, 0},
                                                {Texture2D{90, 100, format}, 1, 1}};
  for (const ObjectStrategy strategy : all_object_strategies()) {
    if (strategy == ObjectStrategy::naive || strategy == ObjectStrategy::equality) continue;
    EXPECT_EQ(plan_objects(crossed, strategy).objects.size(), 2u) << name(strategy);
    const ObjectPlan grown = plan_objects(alike, strategy);
    ASSERT_EQ(grown.objects.size(), 1u) << name(strategy);
    const Size square = Texture2D{100, 100, format};
    EXPECT_EQ(grown.objects[0], square) << name(strategy);
  }
}

// Without `exact` and `best`, which run all the others.
TEST(PlannerProperties, AHundredThousandRecordsArePlanned) {
  const auto records = RandomRecords(7)({100000, 100000, 20, 100000, false});
  for (const ObjectStrategy strategy : all_object_strategies()) {
    if (strategy == ObjectStrategy::exact || strategy == ObjectStrategy::best) continue;
    if (records.size() > most_records(strategy)) {
      EXPECT_THROW(plan_objects(records, strategy), PlanError) << name(strategy);
      continue;
    }
    EXPECT_NO_THROW(validate(records, plan_objects(records, strategy))) << name(strategy);
  }
  for (const OffsetStrategy strategy : all_offset_strategies()) {
    if (strategy == OffsetStrategy::exact || strategy == OffsetStrategy::best) continue;
    EXPECT_NO_THROW(validate(records, plan_offsets(records, strategy))) << name(strategy);
  }
}

}  // namespace
}  // namespace vellum::planner::test
