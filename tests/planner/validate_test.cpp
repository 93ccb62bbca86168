// The validator refuses plans that are wrong in one thing.
#include <gtest/gtest.h>

#include <limits>

#include "records_for_tests.hpp"

namespace vellum::planner::test {
namespace {

void expect_refused(const auto& records, const auto& plan, const std::string& why,
                    const PlanOptions& options = {}) {
  try {
    validate(records, plan, options);
    FAIL() << "accepted, but: " << why;
  } catch (const PlanError& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

const std::vector<TensorUsageRecord> kRecords = {bytes_record(100, 0, 2), bytes_record(50, 2, 3),
                                                 bytes_record(70, 3, 4)};
// 0 and 2 share: their lifetimes do not meet.
const ObjectPlan kObjects{{0, 1, 0}, {Bytes{100}, Bytes{50}}, 150};
const OffsetPlan kOffsets{{0, 100, 0}, 150};

TEST(ValidateObjects, AcceptsARightPlan) { EXPECT_NO_THROW(validate(kRecords, kObjects)); }

TEST(ValidateObjects, RefusesLifetimesThatMeet) {
  ObjectPlan plan = kObjects;
  plan.object_of[1] = 0;
  plan.objects.pop_back();
  plan.total_bytes = 100;
  expect_refused(kRecords, plan, "records 0 (tasks 0 to 2) and 1 (tasks 2 to 3)");
}

TEST(ValidateObjects, RefusesAnObjectThatIsTooSmall) {
  ObjectPlan plan = kObjects;
  plan.objects[0] = Bytes{99};
  plan.total_bytes = 149;
  expect_refused(kRecords, plan, "object 0 does not cover record 0");
}

TEST(ValidateObjects, RefusesAWrongTotal) {
  ObjectPlan plan = kObjects;
  plan.total_bytes = 149;
  expect_refused(kRecords, plan, "149");
  plan.total_bytes = 150;
  expect_refused(kRecords, plan, "takes 192", {.alignment = 64});
}

TEST(ValidateObjects, RefusesAnObjectThatDoesNotExistOrIsUnused) {
  ObjectPlan plan = kObjects;
  plan.object_of[1] = 2;
  expect_refused(kRecords, plan, "object 2, which does not exist");
  plan = kObjects;
  plan.objects.push_back(Bytes{10});
  plan.total_bytes = 160;
  expect_refused(kRecords, plan, "object 2 carries no tensor");
}

TEST(ValidateObjects, RefusesAPlanForOtherRecords) {
  ObjectPlan plan = kObjects;
  plan.object_of.pop_back();
  expect_refused(kRecords, plan, "assigns 2 tensors, but there are 3");
}

TEST(ValidateObjects, RefusesASizeThatIsNotTheTensors) {
  const TexelFormat rgba{1, 16};
  const std::vector<TensorUsageRecord> records = {{Texture2D{4, 8, rgba}, 0, 0, {{8, 4, rgba}}}};
  ObjectPlan plan{.object_of = {0}, .objects = {Texture2D{8, 4, rgba}}, .total_bytes = 512};
  expect_refused(records, plan, "record 0 has no chosen size");
  plan.size_of = {Texture2D{8, 4, rgba}};
  EXPECT_NO_THROW(validate(records, plan));
  plan.size_of = {Texture2D{4, 8, rgba}};
  expect_refused(records, plan, "object 0 does not cover record 0");
  plan.size_of = {Texture2D{2, 2, rgba}};
  expect_refused(records, plan, "record 0 has a size that is none of its own");
}

TEST(ValidateObjects, RefusesAnExtentThatDoesNotCoverEveryDimension) {
  const TexelFormat rgba{1, 16}, half{2, 8};
  const std::vector<TensorUsageRecord> flat = {{Texture2D{4, 8, rgba}, 0, 0}};
  const auto refused = [&](const Size& object) {
    expect_refused(flat, ObjectPlan{{0}, {object}, byte_size(object)}, "does not cover");
  };
  EXPECT_NO_THROW(validate(flat, ObjectPlan{{0}, {Texture2D{4, 8, rgba}}, 512}));
  refused(Texture2D{8, 4, rgba});
  refused(Texture2D{3, 100, rgba});
  refused(Texture2D{100, 7, rgba});
  refused(Texture2D{4, 8, half});
  refused(Texture3D{4, 8, 1, rgba});
  refused(Bytes{512});
  const std::vector<TensorUsageRecord> solid = {{Texture3D{2, 2, 2, rgba}, 0, 0}};
  const Size shallow = Texture3D{4, 4, 1, rgba};
  expect_refused(solid, ObjectPlan{{0}, {shallow}, byte_size(shallow)}, "does not cover");
}

TEST(ValidateOffsets, AcceptsARightPlan) { EXPECT_NO_THROW(validate(kRecords, kOffsets)); }

TEST(ValidateOffsets, RefusesOverlaps) {
  OffsetPlan plan = kOffsets;
  plan.offset_of[1] = 99;
  plan.total_bytes = 149;
  expect_refused(kRecords, plan,
                 "records 0 (tasks 0 to 2, bytes 0 to 100) and 1 (tasks 2 to 3, bytes 99 to 149)");
  plan.offset_of[1] = 0;  // the same place
  plan.total_bytes = 100;
  expect_refused(kRecords, plan, "overlap");
  plan.offset_of[1] = 20;  // inside
  plan.total_bytes = 100;
  expect_refused(kRecords, plan, "overlap");
}

TEST(ValidateOffsets, RefusesAWrongTotal) {
  OffsetPlan plan = kOffsets;
  plan.total_bytes = 151;
  expect_refused(kRecords, plan, "states 151 bytes in total, but takes 150");
}

TEST(ValidateOffsets, RefusesOffsetsThatAreNotAligned) {
  OffsetPlan plan = kOffsets;
  plan.total_bytes = 164;
  expect_refused(kRecords, plan, "record 1 at offset 100 is not aligned to 64", {.alignment = 64});
  plan.offset_of[1] = 128;
  plan.total_bytes = 192;
  EXPECT_NO_THROW(validate(kRecords, plan, {.alignment = 64}));
}

TEST(ValidateOffsets, RefusesAnEndBeyond64Bits) {
  OffsetPlan plan = kOffsets;
  plan.offset_of[1] = std::numeric_limits<uint64_t>::max() - 10;
  expect_refused(kRecords, plan, "ends beyond 64 bits");
}

TEST(ValidateOffsets, RefusesTextures) {
  const std::vector<TensorUsageRecord> records = {{Texture2D{4, 4, {}}, 0, 0}};
  expect_refused(records, OffsetPlan{{0}, 256}, "texture");
}

// Moves one tensor of a right plan at random and asks for a verdict; all pairs, looked at one by one, give
// the truth.
TEST(ValidateOffsets, AgreesWithAllPairsOnRandomPlans) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomRecords random(seed);
    const auto records = random({12, 10, 4, 8, false});
    OffsetPlan plan = plan_offsets(records, OffsetStrategy::greedy_by_size);
    plan.offset_of[random.below(records.size())] = random.below(plan.total_bytes);
    bool right = true;
    plan.total_bytes = 0;
    for (size_t a = 0; a < records.size(); ++a) {
      const uint64_t end_a = plan.offset_of[a] + byte_size(records[a].size);
      plan.total_bytes = std::max(plan.total_bytes, end_a);
      for (size_t b = 0; b < a; ++b) {
        const bool meet =
            records[a].first_task <= records[b].last_task && records[b].first_task <= records[a].last_task;
        const bool cross =
            plan.offset_of[a] < plan.offset_of[b] + byte_size(records[b].size) && plan.offset_of[b] < end_a;
        right = right && !(meet && cross);
      }
    }
    bool accepted = true;
    try {
      validate(records, plan);
    } catch (const PlanError&) {
      accepted = false;
    }
    EXPECT_EQ(accepted, right);
  }
}

}  // namespace
}  // namespace vellum::planner::test
