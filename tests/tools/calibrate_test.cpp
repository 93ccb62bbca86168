// vellum devices --calibrate, and estimates on the device after it.
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "api/small_model.hpp"
#include "run_tool.hpp"
#include "support/environment.hpp"

namespace vellum::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class Calibrate : public testing::Test {
 protected:
  Calibrate() { small_model().save(folder / "model.onnx"); }
  void SetUp() override {
    if (under_sanitizer()) GTEST_SKIP() << "the process grows by what the sanitizer needs";
    if (on_swiftshader()) GTEST_SKIP() << "its memory grows with the square of the largest pipeline";
  }

  json point(const std::string& file, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"estimate", file, "--device", "0", "--cache", cache};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_json(arguments)["points"][0];
  }
  json calibrate() const { return run_json({"devices", "--calibrate", "--cache", cache})["calibration"]; }
  // The file that a calibration left.
  fs::path calibration() const {
    for (const fs::directory_entry& entry : fs::directory_iterator(cache))
      if (entry.path().filename().string().starts_with("memory-")) return entry.path();
    return {};
  }

  TempFolder folder;
  const std::string model = (folder / "model.onnx").string(), cache = (folder / "cache").string();
};

TEST_F(Calibrate, EstimatesUseWhatWasMeasuredHere) {
  const json calibration = calibrate();
  EXPECT_FALSE(calibration["host"].get<std::string>().empty());
  const uint64_t driver = calibration["driver_bytes"];
  EXPECT_GT(driver, 1u << 20);
  const json after = point(model);
  EXPECT_EQ(after["resident_parts"]["driver"], driver);
  EXPECT_EQ(after["driver_host"], calibration["host"]);
  EXPECT_EQ(after["resident_parts"]["pipelines"],
            after["shader_operations"].get<uint64_t>() * calibration["bytes_per_operation"].get<uint64_t>() +
                after["largest_shader_operations"].get<uint64_t>() *
                    calibration["bytes_per_operation_of_largest"].get<uint64_t>());
  // A caps file of this device has them, too.
  run_json({"devices", "--save-caps", (folder / "caps.json").string(), "--cache", cache});
  EXPECT_EQ(run_json({"estimate", model, "--caps", (folder / "caps.json").string()})["points"][0]["estimate"],
            after["estimate"]);
}

TEST_F(Calibrate, DamagedFilesAreIgnoredWithAWarning) {
  calibrate();
  const fs::path file = calibration();
  ASSERT_FALSE(file.empty());
  fs::resize_file(file, fs::file_size(file) - 1);
  const Finished finished = run_tool({"estimate", model, "--device", "0", "--cache", cache, "--json"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_NE(finished.err.find(file.filename().string()), std::string::npos) << finished.err;
  EXPECT_TRUE(json::parse(finished.out)["points"][0]["driver_host"].get<std::string>().empty());
}

// None of these networks is a probe. The bound is that of docs/benchmarks/estimate.md.
TEST_F(Calibrate, PredictsTheProcessWithinATenth) {
  const char* data = std::getenv("VELLUM_TEST_DATA");
  const fs::path models = fs::path(data ? data : "") / "models";
  const std::vector<std::pair<const char*, std::vector<std::string>>> networks{
      {"face_detection_short_range.tflite", {}},
      {"hand_landmark_lite.tflite", {"--batch", "4"}},
      {"ch_PP-OCRv4_det_infer.onnx", {"--shape", "x=1x3x96x320"}}};
  const EnvironmentVariable no_cache("MESA_SHADER_CACHE_DISABLE", "1");
  for (const auto& [name, options] : networks) {
    const std::string file = (models / name).string();
    if (!fs::exists(file)) GTEST_SKIP() << file << " is missing: ./setup.sh models";
    std::vector<std::string> arguments = options;
    arguments.push_back("--measure");  // the first one calibrates
    const json measured = point(file, arguments);
    EXPECT_FALSE(measured["driver_host"].get<std::string>().empty()) << name;
    EXPECT_TRUE(measured["interval"].is_null()) << name;
    const double grown = measured["process_bytes"], estimate = measured["estimate"]["total"];
    EXPECT_NEAR(estimate, grown, 0.1 * grown) << name;
  }
}

// Without a calibration the estimate is an interval, which has what is measured.
TEST_F(Calibrate, WithoutItEstimatesAreIntervals) {
  const json before = point(model);
  const json after = (calibrate(), point(model));
  EXPECT_TRUE(after["interval"].is_null());
  if (before["resident_parts"]["driver"].is_null()) GTEST_SKIP() << "nothing is known of this driver";
  const uint64_t least = before["interval"]["least"], most = before["interval"]["most"];
  EXPECT_TRUE(before["driver_host"].get<std::string>().empty());
  EXPECT_LE(least, after["estimate"]["total"].get<uint64_t>());
  EXPECT_GE(most, after["estimate"]["total"].get<uint64_t>());
  EXPECT_GT(least, before["estimate"]["total"].get<uint64_t>() / 2);
  const Finished table =
      run_tool({"estimate", model, "--device", "0", "--cache", (folder / "none").string()});
  EXPECT_NE(table.out.find("vellum devices --calibrate"), std::string::npos) << table.out;
}

TEST(CalibrateTool, RefusesADriverThatItsModelDoesNotFit) {
  if (!on_swiftshader()) GTEST_SKIP() << "the model fits";
  EXPECT_TRUE(fails({"devices", "--calibrate"}, 1, {"cannot be calibrated"}));
}

}  // namespace
}  // namespace vellum::test
