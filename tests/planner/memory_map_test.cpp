#include "vellum/planner/memory_map.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace vellum::planner {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

const std::vector<TensorUsageRecord> kRecords{{Bytes{2048}, 0, 1}, {Bytes{1024}, 1, 2}, {Bytes{4096}, 2, 3}};
const std::vector<std::string> kNames{"first", "a<b> & \"c\"", "last"};

TEST(MemoryMap, DrawsEveryTensorAndObjectOnce) {
  const PlanReport report = make_plan_report(kRecords, "greedy_by_size_improved", PlanMode::objects);
  const std::string svg = memory_map_svg(kRecords, kNames, report.plans.at(0), "three tensors");
  EXPECT_EQ(svg.rfind("<svg", 0), 0u);
  EXPECT_EQ(count(svg, "<title>"), kRecords.size());
  EXPECT_EQ(count(svg, "fill=\"#eee\""), report.plans[0].object_count + 1) << "the objects, and the legend";
  EXPECT_EQ(count(svg, "<rect"), 1 + kRecords.size() + report.plans[0].object_count);
  EXPECT_EQ(count(svg, "<title>first\n2.0 KiB, tasks 0 to 1</title>"), 1u);
}

// The heights of the rectangles that are filled with the colour of objects, without the legend.
double height_of_objects(const std::string& svg) {
  double sum = 0;
  for (size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1)) {
    const std::string element = svg.substr(at, svg.find('>', at) - at);
    if (element.find("#eee") != std::string::npos)
      sum += std::stod(element.substr(element.find(" height=\"") + 9));
  }
  return sum;
}

// One texture of 64 x 384 may be 384 x 64 instead, so the two tensors share one object of one tensor's bytes;
// a picture that covered both extents would be 384 x 384.
TEST(MemoryMap, ObjectsAreAsHighAsThePlansBytes) {
  const TexelFormat format{1, 4};
  const std::vector<TensorUsageRecord> records{
      {Texture2D{64, 384, format}, 0, 1, {Texture2D{384, 64, format}}},
      {Texture2D{384, 64, format}, 2, 3},
      {Texture2D{8, 8, format}, 1, 2}};
  PlanOptions options;
  options.alignment = 4096;
  const PlanReport report = make_plan_report(records, "all", PlanMode::objects, options);
  for (const PlanRow& plan : report.plans) {
    const std::string svg = memory_map_svg(records, {}, plan, plan.strategy);
    // The canvas is 330 units high for all bytes of the plan.
    EXPECT_NEAR(height_of_objects(svg), 330, 0.1) << plan.strategy;
    uint64_t sum = 0;
    for (const uint64_t bytes : plan.object_bytes) sum += bytes;
    EXPECT_EQ(sum, plan.total_bytes) << plan.strategy;
    // A tensor's height is its share of these.
    const double unit = 330.0 / static_cast<double>(plan.total_bytes);
    char height[32];
    std::snprintf(height, sizeof height, "height=\"%.2f\"", 64 * 384 * 4 * unit);
    EXPECT_GE(count(svg, height), 2u) << plan.strategy << "\n" << svg;
  }
}

TEST(MemoryMap, EscapesNamesOfModels) {
  const PlanReport report = make_plan_report(kRecords, "greedy_by_size", PlanMode::offsets);
  const std::string svg = memory_map_svg(kRecords, kNames, report.plans.at(0), "<title>");
  EXPECT_GE(count(svg, "a&lt;b&gt; &amp; &quot;c&quot;"), 1u);
  EXPECT_EQ(count(svg, "a<b>"), 0u);
  EXPECT_EQ(count(svg, "<title>"), kRecords.size());
}

TEST(MemoryMap, RectanglesOfAnArenaLieAtTheirOffsets) {
  PlanRow plan;
  plan.mode = PlanMode::offsets;
  plan.total_bytes = 4096;
  plan.assignment = {0, 2048, 0};
  const std::string svg = memory_map_svg(kRecords, {}, plan, "arena");
  // The canvas is 330 units high for 4096 bytes: record 1 covers 82.5 of them above the middle.
  EXPECT_EQ(count(svg, "height=\"82.50\""), 1u);
  EXPECT_EQ(count(svg, "record 1\n"), 1u);
}

TEST(MemoryMap, ShowsTheLowerBoundAndWhatEachObjectCarries) {
  const PlanReport report = make_plan_report(kRecords, "naive", PlanMode::objects);
  const std::string svg = memory_map_svg(kRecords, kNames, report.plans.at(0), "naive");
  // The largest tensor at each task is 4096 at most, the second largest 1024.
  EXPECT_EQ(count(svg, "lower bound, 5.0 KiB"), 1u);
  EXPECT_EQ(count(svg, "stroke-dasharray"), 2u) << "the bound, and the legend";
  EXPECT_EQ(count(svg, ": 1 tensor<"), 3u);
  EXPECT_EQ(count(svg, "task, in execution order"), 1u);
}

}  // namespace
}  // namespace vellum::planner
