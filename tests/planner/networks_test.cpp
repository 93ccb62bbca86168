// The six networks of Pisarchyk & Lee 2020, against the totals in tests/data/records/EXPECTED.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "records_for_tests.hpp"

namespace vellum::planner::test {
namespace {

struct Expected {
  const char* name;
  size_t tensors;
  uint64_t naive, objects_bound, objects_by_size_improved, objects_by_breadth;
  uint64_t offsets_bound, offsets_by_size, offsets_by_breadth;
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.name; }

constexpr Expected kExpected[] = {
    {"mobilenet_v2", 65, 27591112, 6924288, 7024640, 7225344, 6021120, 6021120, 6021120},
    {"deeplab_v3", 69, 51082904, 6401088, 7516224, 7098048, 4530240, 4878720, 4878720},
    {"blazeface", 88, 9640960, 1402368, 1426944, 1549824, 1376256, 1376256, 1376256},
    {"mobilenet_v1", 30, 20182856, 4816896, 4816896, 4816896, 4816896, 4816896, 4816896},
    {"inception_v3", 125, 57408840, 9477376, 10943936, 10943936, 8297856, 8297856, 8601408},
    {"posenet", 29, 29943616, 6655424, 6655424, 6655424, 6575904, 6575904, 6575904},
};

class Networks : public testing::TestWithParam<Expected> {
 protected:
  uint64_t objects(ObjectStrategy strategy) const {
    const ObjectPlan plan = plan_objects(records_, strategy);
    validate(records_, plan);
    return plan.total_bytes;
  }
  uint64_t offsets(OffsetStrategy strategy) const {
    const OffsetPlan plan = plan_offsets(records_, strategy);
    validate(records_, plan);
    return plan.total_bytes;
  }
  const Expected expected_ = GetParam();
  const std::vector<TensorUsageRecord> records_ = network(expected_.name);
};

TEST_P(Networks, BoundsAreExact) {
  EXPECT_EQ(records_.size(), expected_.tensors);
  EXPECT_EQ(naive_bytes(records_), expected_.naive);
  EXPECT_EQ(objects_lower_bound(records_), expected_.objects_bound);
  EXPECT_EQ(offsets_lower_bound(records_), expected_.offsets_bound);
}

TEST_P(Networks, ObjectsAreNoLargerThanThePublishedStrategies) {
  EXPECT_EQ(objects(ObjectStrategy::naive), expected_.naive);
  EXPECT_LE(objects(ObjectStrategy::equality), expected_.naive);
  EXPECT_LE(objects(ObjectStrategy::greedy_by_size_improved), expected_.objects_by_size_improved);
  EXPECT_LE(objects(ObjectStrategy::greedy_by_breadth), expected_.objects_by_breadth);
  EXPECT_LE(objects(ObjectStrategy::best),
            std::min(expected_.objects_by_size_improved, expected_.objects_by_breadth));
}

TEST_P(Networks, OffsetsAreNoLargerThanThePublishedStrategies) {
  EXPECT_EQ(offsets(OffsetStrategy::naive), expected_.naive);
  EXPECT_LE(offsets(OffsetStrategy::greedy_by_size), expected_.offsets_by_size);
  EXPECT_LE(offsets(OffsetStrategy::greedy_by_breadth), expected_.offsets_by_breadth);
  EXPECT_LE(offsets(OffsetStrategy::best), std::min(expected_.offsets_by_size, expected_.offsets_by_breadth));
}

TEST_P(Networks, BestIsTheSmallestOfAll) {
  uint64_t smallest = expected_.naive;
  for (const ObjectStrategy strategy : all_object_strategies())
    smallest = std::min(smallest, objects(strategy));
  EXPECT_EQ(objects(ObjectStrategy::best), smallest);
  smallest = expected_.naive;
  for (const OffsetStrategy strategy : all_offset_strategies())
    smallest = std::min(smallest, offsets(strategy));
  EXPECT_EQ(offsets(OffsetStrategy::best), smallest);
}

INSTANTIATE_TEST_SUITE_P(Planner, Networks, testing::ValuesIn(kExpected),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace vellum::planner::test
