#include "vellum/planner/plan.hpp"

#include <cstdlib>
#include <map>

#include "api/small_model.hpp"
#include "run_tool.hpp"
#include "vellum/planner/records_csv.hpp"

namespace vellum::test {
namespace {

using nlohmann::json;

std::filesystem::path tests_folder() {
  const char* tests = std::getenv("VELLUM_TEST_SOURCE");
  if (!tests) throw std::runtime_error("VELLUM_TEST_SOURCE is not set; run the tests with ctest");
  return tests;
}

std::string records_file(const char* network) {
  return (tests_folder() / "data" / "records" / (std::string(network) + ".csv")).string();
}

// The total that the assignment itself gives, whatever the document says.
uint64_t total(const json& plan, const std::vector<planner::TensorUsageRecord>& records) {
  std::vector<uint64_t> objects(plan["object_count"].get<size_t>());
  uint64_t end = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    const uint64_t bytes = planner::byte_size(records[i].size);
    const uint64_t place = plan["assignment"][i].get<uint64_t>();
    if (plan["mode"] == "offsets")
      end = std::max(end, place + bytes);
    else
      objects.at(place) = std::max(objects.at(place), bytes);
  }
  for (uint64_t bytes : objects) end += plan["mode"] == "offsets" ? 0 : bytes;
  return end;
}

TEST(Plan, RecordsArePlannedWithEveryStrategy) {
  const std::string file = records_file("mobilenet_v2");
  const auto records = planner::read_records_csv(std::filesystem::path(file)).records;
  const json document = run_json({"plan", "--records", file, "--strategy", "all", "--budget", "50"});
  // Totals of data/records/EXPECTED.md.
  EXPECT_EQ(document["naive_bytes"], 27591112);
  EXPECT_EQ(document["objects_lower_bound_bytes"], 6924288);
  EXPECT_EQ(document["offsets_lower_bound_bytes"], 6021120);
  EXPECT_FALSE(document.contains("any_order_bound_bytes")) << "records have one order";
  size_t objects = 0, offsets = 0;
  for (const json& plan : document["plans"]) {
    ++(plan["mode"] == "objects" ? objects : offsets);
    ASSERT_EQ(plan["assignment"].size(), records.size());
    EXPECT_EQ(plan["total_bytes"], total(plan, records)) << plan["strategy"];
    const uint64_t bound =
        document[plan["mode"] == "objects" ? "objects_lower_bound_bytes" : "offsets_lower_bound_bytes"];
    // A search may prove more than the bound does.
    if (plan["total_bytes"] == bound) {
      EXPECT_TRUE(plan["proved_optimal"].get<bool>()) << plan["strategy"];
    }
    if (plan["strategy"] == "greedy_by_size_improved") {
      EXPECT_LE(plan["total_bytes"], 7024640);
    }
  }
  EXPECT_EQ(objects, planner::all_object_strategies().size());
  EXPECT_EQ(offsets, planner::all_offset_strategies().size());
}

TEST(Plan, BothToolsPrintTheSameDocument) {
  const std::vector<std::string> common{
      records_file("blazeface"), "--strategy", "greedy_by_size", "--alignment", "64", "--json"};
  std::vector<std::string> with_plan{"plan", "--records"};
  with_plan.insert(with_plan.end(), common.begin(), common.end());
  const Finished one = run_tool(with_plan), other = run_program(VELLUM_PLAN_TOOL, common);
  EXPECT_EQ(other.status, 0);
  EXPECT_EQ(json::parse(one.out), json::parse(other.out));
}

// As `vellum quantize` would make the model: bytes in place of floats.
TEST(Plan, ModelsInIntegers) {
  const TempFolder folder;
  const std::string model = (folder / "model.onnx").string();
  small_model().save(model);
  const auto naive_bytes = [&](const char* precision) {
    const json document = run_json(
        {"plan", model, "--storage", "buffer", "--strategy", "greedy_by_size", "--precision", precision});
    return document["naive_bytes"].get<double>();
  };
  EXPECT_LT(naive_bytes("int8"), 0.7 * naive_bytes("fp32"));
  EXPECT_TRUE(fails({"plan", model, "--precision", "int4"}, 2, {"--precision", "int8"}));
}

TEST(Plan, ModelsArePlannedWithoutADevice) {
  const TempFolder folder;
  const std::string model = (folder / "model.onnx").string(), csv = (folder / "plan.csv").string();
  small_model().save(model);
  const json document = run_json({"plan", model, "--storage", "buffer", "--csv", csv, "--budget", "50"});
  const auto records = planner::read_records_csv(std::filesystem::path(csv)).records;
  size_t modes[2] = {0, 0};
  for (const json& plan : document["plans"]) {
    ++modes[plan["mode"] == "offsets"];
    EXPECT_EQ(plan["assignment"].size(), records.size());
    // naive_bytes has the objects' alignment; offsets have another.
    if (plan["mode"] == "objects") {
      EXPECT_LE(plan["total_bytes"], document["naive_bytes"]) << plan;
    }
    EXPECT_GE(plan["total_bytes"], plan["lower_bound_bytes"]) << plan;
    EXPECT_GE(plan["total_bytes"], document["any_order_bound_bytes"]) << plan;
  }
  EXPECT_EQ(modes[0], planner::all_object_strategies().size());
  EXPECT_EQ(modes[1], planner::all_offset_strategies().size());
  EXPECT_GE(document["naive_bytes"], document["objects_lower_bound_bytes"]);

  const json offsets = run_json({"plan", model, "--mode", "offsets", "--strategy", "greedy_by_size"});
  ASSERT_EQ(offsets["plans"].size(), 1u);
  EXPECT_EQ(offsets["plans"][0]["mode"], "offsets");
  // The device's alignment: of the Android Baseline 2022 profile, where there is no device.
  for (const json& offset : offsets["plans"][0]["assignment"]) EXPECT_EQ(offset.get<uint64_t>() % 256, 0u);
  const json improved = run_json({"plan", model, "--strategy", "greedy_by_size_improved"});
  ASSERT_EQ(improved["plans"].size(), 1u);
  EXPECT_EQ(improved["plans"][0]["mode"], "objects");
}

TEST(Plan, ModesAndWaysAreCompared) {
  const TempFolder folder;
  const std::string model = (folder / "model.onnx").string();
  small_model().save(model);
  const std::filesystem::path shipped = tests_folder().parent_path() / "caps";
  for (const std::string& caps :
       {std::string("android_baseline_2022"), (shipped / "android_baseline_2022.json").string(),
        (shipped / "lavapipe.json").string(), (shipped / "moltenvk_apple_m1.json").string()}) {
    const json rows = run_json({"plan", model, "--compare", "--caps", caps})["comparison"];
    ASSERT_EQ(rows.size(), 14u);
    EXPECT_EQ(rows[0]["mode"], "naive");
    EXPECT_GT(rows[0]["tensors"], rows[1]["tensors"]) << "fusion makes tensors disappear";
    std::map<std::string, uint64_t> none;
    for (const json& row : rows) {
      if (row["ways"] == "unfused") continue;
      if (row["ways"] == "none") none[row["mode"]] = row["planned_bytes"];
      EXPECT_LE(row["planned_bytes"], none.at(row["mode"])) << row;
      EXPECT_LE(row["planned_bytes"], rows[1]["planned_bytes"]) << row;
      EXPECT_GT(row["images"].get<size_t>() + row["buffers"].get<size_t>(), 0u) << row;
    }
  }
  EXPECT_TRUE(fails({"plan", "--records", model, "--compare"}, 1, {"--records"}));
}

TEST(Plan, ShippedBaselineIsTheProfileThatVellumKnows) {
  const TempFolder folder;
  const std::string model = (folder / "model.onnx").string();
  small_model().save(model);
  const std::string shipped = (tests_folder().parent_path() / "caps" / "android_baseline_2022.json").string();
  for (const char* stage : {"program", "plan"})
    EXPECT_EQ(run_json({"inspect", model, "--stage", stage, "--caps", shipped}),
              run_json({"inspect", model, "--stage", stage, "--caps", "android_baseline_2022"}));
}

TEST(Plan, ABudgetIsFittedBeforeAllStrategiesPlan) {
  const TempFolder folder;
  const std::string model = (folder / "model.onnx").string();
  small_model().save(model);
  const json document = run_json({"plan", model, "--memory-budget", "16MiB", "--budget", "0"});
  EXPECT_GT(document["plans"].size(), planner::all_object_strategies().size() / 2);
}

TEST(Plan, UnknownStrategiesAreNamedBesideThoseThatExist) {
  EXPECT_TRUE(fails({"plan", "--records", records_file("blazeface"), "--strategy", "hopeful"}, 1,
                    {"hopeful", "greedy_by_breadth"}));
  const TempFolder folder;
  const std::string model = (folder / "model.onnx").string();
  small_model().save(model);
  EXPECT_TRUE(fails({"plan", model, "--strategy", "hopeful"}, 1, {"hopeful", "greedy_by_breadth"}));
  EXPECT_TRUE(fails({"plan", model, "--alignment", "3"}, 1, {"3"}));
}

TEST(Pool, NetworksNeedAsMuchAsTheLargest) {
  const TempFolder folder;
  const std::string small = (folder / "small.onnx").string(), large = (folder / "large.onnx").string();
  small_model({1, 3, 9, 11}).save(small);
  small_model({1, 3, 40, 37}).save(large);
  const std::string svg = (folder / "pool.svg").string();
  const json document = run_json({"pool", small, large, small, "--svg", svg});
  ASSERT_EQ(document["networks"].size(), 3u);
  const uint64_t least = document["networks"][0]["planned_bytes"],
                 most = document["networks"][1]["planned_bytes"];
  EXPECT_LT(least, most);
  EXPECT_EQ(document["pool_bytes"], most);
  EXPECT_EQ(document["bytes_apart"], 2 * least + most);
  EXPECT_GT(std::filesystem::file_size(svg), 1000u);
  EXPECT_TRUE(fails({"pool"}, 2, {"MODEL"}));
  EXPECT_TRUE(fails({"pool", small, (folder / "none.onnx").string()}, 1, {"none.onnx"}));
}

}  // namespace
}  // namespace vellum::test
