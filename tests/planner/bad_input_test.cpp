#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "records_for_tests.hpp"

namespace vellum::planner::test {
namespace {

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

void expect_error(const std::function<void()>& call, const std::string& text) {
  try {
    call();
    FAIL() << "no error, but expected: " << text;
  } catch (const PlanError& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

// Every function that takes records refuses this one, as record 1.
void expect_refused(const TensorUsageRecord& bad, const std::string& why, const PlanOptions& options = {}) {
  const std::vector<TensorUsageRecord> records = {bytes_record(8, 0, 1), bad};
  const std::string text = "record 1: " + why;
  for (const auto s : all_object_strategies()) expect_error([&] { plan_objects(records, s, options); }, text);
  if (std::holds_alternative<Bytes>(bad.size)) {
    for (const auto s : all_offset_strategies())
      expect_error([&] { plan_offsets(records, s, options); }, text);
  }
  expect_error([&] { naive_bytes(records, options); }, text);
  expect_error([&] { objects_lower_bound(records, options); }, text);
  expect_error([&] { offsets_lower_bound(records, options); }, text);
}

TEST(BadInput, RecordsAreRefusedByNumber) {
  expect_refused(bytes_record(8, -1, 1), "first task -1 is negative");
  expect_refused(bytes_record(8, 3, 2), "last task 2 is before first task 3");
  expect_refused(bytes_record(0, 0, 1), "size is zero");
  expect_refused({Texture2D{0, 4, {}}, 0, 1}, "size is zero");
  expect_refused({Texture3D{4, 4, 0, {}}, 0, 1}, "size is zero");
  expect_refused({Texture2D{4, 4, {1, 0}}, 0, 1}, "size is zero");
  expect_refused({Texture2D{4, 4, {}}, 0, 1, {{4, 0, {}}}}, "size is zero");
  expect_refused({Texture2D{4, 4, {}}, 0, 1, {{4, 4, {1, 8}}}}, "another extent of another kind or format");
  expect_refused({Bytes{256}, 0, 1, {{4, 4, {}}}}, "another extent of another kind or format");
}

TEST(BadInput, SizesThatDoNotFit64BitsAreRefused) {
  const uint32_t wide = std::numeric_limits<uint32_t>::max();
  expect_refused({Texture3D{wide, wide, wide, {}}, 0, 1}, "texture extent is too large");
  expect_refused(bytes_record(kHuge, 0, 1), "the sum of all sizes");
  expect_refused(bytes_record(kHuge, 0, 1), "size does not fit 64 bits once aligned to 256",
                 {.alignment = 256});
  EXPECT_THROW(byte_size(Texture3D{wide, wide, wide, {}}), PlanError);
}

TEST(BadInput, AlignmentMustBeAPowerOfTwo) {
  const std::vector<TensorUsageRecord> records = {bytes_record(8, 0, 1)};
  for (const uint64_t alignment : {0, 3, 48}) {
    const PlanOptions options{.alignment = alignment};
    expect_error([&] { plan_objects(records, ObjectStrategy::best, options); }, "is not a power of two");
    expect_error([&] { plan_offsets(records, OffsetStrategy::best, options); }, "is not a power of two");
    expect_error([&] { naive_bytes(records, options); }, "is not a power of two");
  }
}

TEST(BadInput, OffsetsRefuseTextures) {
  const std::vector<TensorUsageRecord> records = {bytes_record(8, 0, 1), {Texture2D{4, 4, {}}, 0, 1}};
  expect_error([&] { plan_offsets(records, OffsetStrategy::greedy_by_size); }, "record 1: a texture");
}

TEST(BadInput, ExtremeTasksAndSizesAreNotBad) {
  const int64_t end = std::numeric_limits<int64_t>::max();
  const std::vector<TensorUsageRecord> records = {
      bytes_record(uint64_t{1} << 62, 0, end), bytes_record(5, end, end),
      bytes_record(uint64_t{1} << 62, 0, 0), bytes_record(7, 3, end)};
  for (const auto s : all_object_strategies()) EXPECT_NO_THROW(validate(records, plan_objects(records, s)));
  for (const auto s : all_offset_strategies()) EXPECT_NO_THROW(validate(records, plan_offsets(records, s)));
}

TEST(BadInput, NoRecordsGiveAnEmptyPlan) {
  for (const auto s : all_object_strategies()) EXPECT_TRUE(plan_objects({}, s).objects.empty());
  for (const auto s : all_offset_strategies()) EXPECT_EQ(plan_offsets({}, s).total_bytes, 0u);
}

TEST(StrategyNames, GoThereAndBack) {
  for (const auto s : all_object_strategies()) EXPECT_EQ(object_strategy_from_name(name(s)), s);
  for (const auto s : all_offset_strategies()) EXPECT_EQ(offset_strategy_from_name(name(s)), s);
  EXPECT_EQ(all_object_strategies().back(), ObjectStrategy::best);
  EXPECT_EQ(all_offset_strategies().back(), OffsetStrategy::best);
}

TEST(StrategyNames, AnUnknownOneListsThoseThereAre) {
  expect_error([] { object_strategy_from_name("greedy"); }, "greedy_by_size_improved");
  expect_error([] { offset_strategy_from_name("equality"); }, "greedy_by_breadth");
}

}  // namespace
}  // namespace vellum::planner::test
