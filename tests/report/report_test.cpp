#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "report/example.hpp"
#include "report/live_bytes.hpp"
#include "vellum/error.hpp"

namespace vellum::test {
namespace {

using nlohmann::json;

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  EXPECT_NE(from, std::string::npos);
  return text.substr(from + begin.size(), text.find(end, from) - from - begin.size());
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(ProfilePage, NamesNeitherEndTheirElementNorBecomeMarkup) {
  const std::string page = profile_html(hostile_profile());
  EXPECT_EQ(count(page, "</script>"), 2u) << "that of the data and that of the script";
  EXPECT_EQ(count(page, "<img"), 0u);
  EXPECT_EQ(count(page, "<svg"), 0u);
  const json data = json::parse(between(page, "id=\"data\">", "</script>"));
  EXPECT_EQ(data["model"], hostile_profile().model);
  EXPECT_EQ(data["tensors"][0]["name"], hostile_profile().memory.tensors[0].name);
}

TEST(ProfilePage, DataSayWhereEachTensorLies) {
  ProfileReport report = large_profile(20);
  report.memory.tensors[3].offset = 64;
  const json data = json::parse(between(profile_html(report), "id=\"data\">", "</script>"));
  ASSERT_EQ(data["tensors"].size(), 20u);
  uint64_t base = 0;
  for (size_t i = 0; i < 3; ++i) base += report.memory.objects[i].bytes;
  EXPECT_EQ(data["tensors"][3]["address"], base + 64);
  EXPECT_EQ(data["tasks"][10]["ms"], nullptr) << "the host's task";
  EXPECT_EQ(data["totals"]["planned"], report.memory.planned_bytes);
}

TEST(MemoryMap, HasEachTensorAndObjectAndNoMarkupOfNames) {
  const ProfileReport report = large_profile(20);
  const std::string svg = memory_map_svg(report.memory, "twenty");
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_EQ(count(svg, "<title>"), 20u);
  EXPECT_EQ(count(svg, "fill=\"#eee\""), report.memory.objects.size() + 1) << "the legend has one, too";
  EXPECT_EQ(count(memory_map_svg(hostile_profile().memory, "</svg><img>"), "<img"), 0u);
  EXPECT_THROW(memory_map_svg({}, "nothing"), Error);
  MemoryReport broken = report.memory;
  broken.tensors[3].object = 99;
  EXPECT_THROW(memory_map_svg(broken, "no such object"), Error);
}

TEST(MemoryMap, OfOffsetsIsOneArena) {
  MemoryReport memory = large_profile(3).memory;
  memory.mode = "offsets";
  memory.arenas = {1 << 20};
  for (ObjectReport& object : memory.objects) object.arena = 0;
  const std::string svg = memory_map_svg(memory, "offsets");
  EXPECT_EQ(count(svg, "<title>"), 3u);
  EXPECT_NE(svg.find("address in the arena"), std::string::npos);
}

TEST(MemoryPoolMap, NetworksFollowOneAnotherInTheMemoryOfTheLargest) {
  std::vector<PooledNetwork> networks{{"first", large_profile(3).memory},
                                      {"second<", large_profile(5).memory}};
  networks[0].memory.arenas = {4096, 100};
  networks[1].memory.arenas = {1024, 300};
  for (PooledNetwork& network : networks)
    for (ObjectReport& object : network.memory.objects) object.arena = 1;
  EXPECT_EQ(pool_bytes(networks), 4396u);
  const std::string svg = memory_pool_svg(networks, "two");
  EXPECT_EQ(count(svg, "<title>"), 8u);
  EXPECT_EQ(count(svg, ">first<"), 1u);
  EXPECT_EQ(count(svg, ">second&lt;<"), 1u);
  networks[1].memory.objects[0].arena = 2;
  EXPECT_THROW(memory_pool_svg(networks, "no such arena"), Error);
  EXPECT_EQ(pool_bytes({}), 0u);
  EXPECT_THROW(memory_pool_svg({}, "nothing"), Error);
}

TEST(ProfilePage, KernelsHaveTheFiguresOfTheirDispatches) {
  EXPECT_TRUE(
      json::parse(between(profile_html(large_profile(3)), "id=\"data\">", "</script>"))["kernels"].is_null());
  const json kernels =
      json::parse(between(profile_html(hostile_profile()), "id=\"data\">", "</script>"))["kernels"];
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0]["variant"], "TILE_P=4");
  EXPECT_EQ(kernels[0]["dispatches"], 2);
  EXPECT_EQ(kernels[0]["macs"], 1000);
  EXPECT_EQ(kernels[0]["predicted"], 14);
  EXPECT_EQ(kernels[0]["registers"], 72);
  EXPECT_TRUE(kernels[0]["resident"].is_null());
  EXPECT_TRUE(kernels[1]["registers"].is_null());
}

// Two images of an arena over a third one that begins where both are dead.
ProfileReport offsets_profile() {
  ProfileReport report = large_profile(3);
  MemoryReport& memory = report.memory;
  memory.mode = "offsets";
  memory.arenas = {256, 8192};
  memory.objects.resize(3);
  for (ObjectReport& object : memory.objects) object.arena = 1;
  memory.objects[1].arena_offset = 4096;
  return report;
}

TEST(LiveBytes, CountMemoryThatTensorsShareOnce) {
  // Object 0: a, then b in its place (in place at task 1), then c, a part of the object. Object 1: d.
  MemoryReport memory;
  memory.objects.resize(2);
  memory.objects[0].bytes = 128;
  memory.objects[1].bytes = 64;
  memory.planned_bytes = 192;
  const auto add = [&](uint32_t object, uint64_t offset, int64_t first, int64_t last, uint64_t bytes) {
    TensorReport& tensor = memory.tensors.emplace_back();
    tensor.object = object, tensor.offset = offset, tensor.bytes = bytes;
    tensor.first_task = first, tensor.last_task = last;
  };
  add(0, 0, 0, 1, 100);
  add(0, 0, 1, 2, 100);
  add(0, 64, 2, 3, 32);
  add(1, 0, 1, 3, 50);
  EXPECT_EQ(live_bytes(memory, 5), (std::vector<uint64_t>{100, 150, 150, 82, 0}));
  memory.mode = "offsets";  // an object for the tensors that alias it, padding included
  EXPECT_EQ(live_bytes(memory, 5), (std::vector<uint64_t>{128, 192, 192, 192, 0}));
  EXPECT_THROW(live_bytes(memory, 3), Error);
}

TEST(LiveBytes, ThePageAndTheTraceHaveTheSame) {
  ProfileReport report = large_profile(20);
  report.memory.tensors[1] = report.memory.tensors[0];  // in the same memory
  const std::vector<uint64_t> live = live_bytes(report.memory, report.layers.size());
  EXPECT_EQ(json::parse(between(profile_html(report), "id=\"data\">", "</script>"))["live"], live);
  std::vector<uint64_t> counters;
  const json trace = json::parse(profile_trace(report));
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == "C") counters.push_back(event["args"]["bytes"]);
  EXPECT_EQ(counters, live);
}

TEST(ProfilePage, OffsetsLieInTheirArenas) {
  const json data = json::parse(between(profile_html(offsets_profile()), "id=\"data\">", "</script>"));
  ASSERT_EQ(data["objects"].size(), 2u) << "the arenas";
  EXPECT_EQ(data["objects"][1]["reuse"], 3);
  EXPECT_EQ(data["objects"][1]["base"], 256);
  EXPECT_EQ(data["tensors"][0]["address"], 256);
  EXPECT_EQ(data["tensors"][1]["address"], 256 + 4096);
  EXPECT_EQ(data["tensors"][2]["address"], 256);
  EXPECT_EQ(data["tensors"][1]["object"], 1);
}

TEST(ProfilePage, ObjectsOutsideOfArenasAreRefused) {
  ProfileReport report = offsets_profile();
  report.memory.objects[2].arena = 2;
  EXPECT_THROW(profile_html(report), Error);
  EXPECT_THROW(profile_trace(report), Error);
}

TEST(ProfilePage, LoadsNothing) {
  const std::string page = profile_html(large_profile(3));
  for (const char* way : {"http:", "https:", "src=", "url(", "@import", "fetch(", "import("})
    EXPECT_EQ(page.find(way), std::string::npos) << way;
}

TEST(ProfilePage, TensorsWithoutAnObjectAreRefused) {
  ProfileReport report = large_profile(3);
  report.memory.tensors[1].object = 99;
  EXPECT_THROW(profile_html(report), Error);
  EXPECT_THROW(profile_trace(report), Error);
  report = large_profile(3);
  report.memory.tensors[1].last_task = 3;
  EXPECT_THROW(profile_trace(report), Error);
}

// Per process and thread: begin and end of its slices.
std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> tracks(const json& trace) {
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> found;
  for (const json& event : trace["traceEvents"]) {
    EXPECT_TRUE(event["pid"].is_number_integer() && event["tid"].is_number_integer() &&
                event["ts"].is_number())
        << event;
    EXPECT_FALSE(event["name"].get<std::string>().empty());
    if (event["ph"] != "X") continue;
    const double begin = event["ts"], duration = event["dur"];
    EXPECT_GE(duration, 0);
    found[{event["pid"], event["tid"]}].push_back({begin, begin + duration});
  }
  for (auto& [track, slices] : found) std::sort(slices.begin(), slices.end());
  return found;
}

TEST(Trace, HasATrackForTheQueueAndOneForEachObject) {
  const ProfileReport report = large_profile(200);
  const json trace = json::parse(profile_trace(report));
  std::set<std::string> names;
  size_t tasks = 0, tensors = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "M" && event["name"] == "thread_name") names.insert(event["args"]["name"]);
    tasks += event["ph"] == "X" && event["cat"] == "task";
    tensors += event["ph"] == "X" && event["cat"] == "tensor";
  }
  EXPECT_TRUE(names.contains("compute queue"));
  EXPECT_EQ(tasks, 199u) << "all but the host's";
  EXPECT_EQ(tensors, 200u);
  const auto found = tracks(trace);
  EXPECT_EQ(found.size(), 1u + report.memory.objects.size());
  for (const auto& [track, slices] : found)
    for (size_t i = 1; i < slices.size(); ++i)
      EXPECT_LE(slices[i - 1].second, slices[i].first + 1e-6) << track.first << " " << track.second;
}

TEST(Trace, TasksTakeAMillisecondWhereNothingWasTimed) {
  ProfileReport report = large_profile(10);
  for (LayerTime& layer : report.run)
    layer.begin_ms = layer.gpu_ms = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [track, slices] : tracks(json::parse(profile_trace(report))))
    for (const auto& [begin, end] : slices) EXPECT_GE(end - begin, 1000);
}

TEST(Trace, TensorsSideBySideInAnArenaGetLanesOfTheirOwn) {
  ProfileReport report = large_profile(12);
  for (TensorReport& tensor : report.memory.tensors) tensor.object = 0;
  const auto found = tracks(json::parse(profile_trace(report)));
  EXPECT_GT(found.size(), 2u);
  for (const auto& [track, slices] : found)
    for (size_t i = 1; i < slices.size(); ++i) EXPECT_LE(slices[i - 1].second, slices[i].first + 1e-6);
}

TEST(Trace, HostileNamesStayStrings) {
  const json trace = json::parse(profile_trace(hostile_profile()));
  EXPECT_EQ(trace["otherData"]["model"], hostile_profile().model);
}

}  // namespace
}  // namespace vellum::test
