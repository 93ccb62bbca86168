// vellum estimate where there is no device.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "api/small_model.hpp"
#include "run_tool.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using nlohmann::json;

class EstimateTool : public testing::Test {
 protected:
  EstimateTool() { small_model().save(folder / "model.onnx"); }

  json points(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"estimate", model};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_json(arguments)["points"];
  }
  void refused(std::vector<std::string> more, int status, const std::vector<std::string>& parts) const {
    std::vector<std::string> arguments{"estimate", model};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_TRUE(fails(arguments, status, parts));
  }
  std::string text(const char* file) const {
    std::ifstream in(folder / file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  TempFolder folder;
  const std::string model = (folder / "model.onnx").string();
  const std::string svg = (folder / "curve.svg").string();
  static std::string caps_file(const char* name) {
    return (std::filesystem::path(std::getenv("VELLUM_TEST_SOURCE")).parent_path() / "caps" / name).string();
  }
  const std::string lavapipe = caps_file("lavapipe.json");
};

TEST_F(EstimateTool, SaysByCategoryWhatAModelTakes) {
  const json all = points({"--batch", "1,2,4", "--caps", lavapipe});
  ASSERT_EQ(all.size(), 3u);
  for (const json& point : all) {
    uint64_t sum = 0;
    for (const char* key : {"weights", "in_out", "intermediates", "workspace", "staging", "resident"})
      sum += point["estimate"][key].get<uint64_t>();
    EXPECT_EQ(point["estimate"]["total"], sum);
    EXPECT_FALSE(point.contains("measured"));
  }
  const uint64_t input = 3 * 9 * 11 * 4, output = 2 * 4 * 5 * 4;
  EXPECT_EQ(all[2]["batch"], 4);
  EXPECT_EQ(all[2]["estimate"]["in_out"], 4 * (input + output));
  // Every tensor and parameter: x, conv1, relu1, pool, y; two weights and a bias.
  const uint64_t tensors = 3 * 9 * 11 + 5 * 9 * 11 * 2 + 5 * 4 * 5 + 2 * 4 * 5;
  EXPECT_EQ(all[0]["shape_inference_total"], 4 * (tensors + 5 * 27 + 5 + 10));
}

TEST_F(EstimateTool, DoesNotGuessWhatADriverTakes) {
  EXPECT_GT(points({"--caps", lavapipe})[0]["resident_parts"]["driver"], 0);
  EXPECT_TRUE(points({"--caps", "android_baseline_2022"})[0]["resident_parts"]["driver"].is_null());
  const Finished table = run_tool({"estimate", model});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_NE(table.out.find("not known"), std::string::npos) << table.out;
}

TEST_F(EstimateTool, SaysHowLongARunWaitsForStreamedWeights) {
  OnnxModel chain;
  chain.input("x0", {1, 64, 4, 4});
  for (int i = 0; i < 4; ++i) {
    const std::string number = std::to_string(i);
    chain.initializer("w" + number, random_tensor({64, 64, 1, 1}, static_cast<uint32_t>(i + 1)))
        .node("Conv", {"x" + number, "w" + number}, {"x" + std::to_string(i + 1)}, {}, "conv" + number);
  }
  chain.output("x4").save(folder / "chain.onnx");
  const auto run_of = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"estimate", (folder / "chain.onnx").string()};
    if (std::ranges::count(more, "--caps") == 0) more.insert(more.end(), {"--caps", lavapipe});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_json(arguments)["points"][0]["run"];
  };
  const json resident = run_of({});
  // The host may write to all of its memory, but over a bus.
  const json discrete = run_of({"--weights-budget", "40KiB", "--caps", caps_file("nvidia_h200.json")});
  EXPECT_GE(discrete["streaming_ms"], discrete["streamed_bytes"].get<double>() / 20e6);
  EXPECT_EQ(resident["streamed_bytes"], 0);
  EXPECT_GT(resident["ms"], 0);
  EXPECT_EQ(resident["ms"], resident["computing_ms"]);
  const std::vector<std::string> budget{"--weights-budget", "40KiB", "--disk-gigabytes"};
  const auto from_disk = [&](const char* rate) {
    std::vector<std::string> arguments = budget;
    arguments.push_back(rate);
    return run_of(arguments);
  };
  const json slow = from_disk("0.001");
  const double bytes = slow["streamed_bytes"];
  EXPECT_GE(bytes, 2 * 64 * 64 * 4);
  EXPECT_NEAR(slow["streaming_ms"], bytes / 1e3, 1e-6);
  EXPECT_GE(slow["ms"], slow["streaming_ms"]);
  EXPECT_LT(from_disk("1")["ms"], slow["ms"]);
  // The bandwidth of a CPU is assumed, unless the caller measured it.
  const auto over_bus = [&](const char* rate) {
    return run_of({"--weights-budget", "40KiB", "--bus-gigabytes", rate})["streaming_ms"].get<double>();
  };
  EXPECT_NEAR(over_bus("10"), run_of({"--weights-budget", "40KiB"})["streaming_ms"], 1e-9);
  EXPECT_NEAR(over_bus("40"), over_bus("10") / 4, 1e-9);
  refused({"--disk-gigabytes", "0"}, 2, {"--disk-gigabytes"});
  refused({"--frontier", "--bus-gigabytes", "3"}, 2, {"--frontier"});
}

// The session that is said to fit does fit.
TEST_F(EstimateTool, NamesWhatWouldMakeItFit) {
  const std::vector<std::string> wanted{"--batch", "8", "--memory", "naive"};
  const uint64_t total = points(wanted)[0]["estimate"]["total"];
  const auto with_budget = [&](uint64_t bytes) {
    std::vector<std::string> arguments = wanted;
    arguments.insert(arguments.end(), {"--budget", std::to_string(bytes)});
    return points(arguments)[0]["budget"];
  };
  EXPECT_TRUE(with_budget(total)["fits"]);
  EXPECT_TRUE(with_budget(total)["would_fit"].empty());
  const json answer = with_budget(total - 1);
  EXPECT_FALSE(answer["fits"]);
  ASSERT_FALSE(answer["would_fit"].empty());
  bool smaller_batch = false;
  for (const json& remedy : answer["would_fit"]) {
    std::istringstream words(remedy["options"].get<std::string>());
    std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
    const auto given = [&](const char* name) {
      return std::find(arguments.begin(), arguments.end(), name) != arguments.end();
    };
    smaller_batch = smaller_batch || given("--batch");
    if (!given("--batch")) arguments.insert(arguments.end(), {"--batch", "8"});
    if (!given("--memory")) arguments.insert(arguments.end(), {"--memory", "naive"});
    EXPECT_EQ(points(arguments)[0]["estimate"]["total"], remedy["total"]) << remedy;
    EXPECT_LT(remedy["total"], total);
  }
  EXPECT_TRUE(smaller_batch);
  EXPECT_TRUE(with_budget(1)["would_fit"].empty());
}

TEST_F(EstimateTool, DrawsCurvesOverADimension) {
  small_model({1, 3, kUnknownDim, 11}).save(folder / "model.onnx");
  const json swept = points({"--sweep", "x:2=9,18,36", "--svg", svg});
  ASSERT_EQ(swept.size(), 3u);
  EXPECT_EQ(swept[2]["shapes"]["x"], json::parse("[1, 3, 36, 11]"));
  EXPECT_LT(swept[0]["estimate"]["intermediates"], swept[2]["estimate"]["intermediates"]);
  const std::string picture = text("curve.svg");
  EXPECT_EQ(picture.rfind("<svg", 0), 0u);
  for (const char* part : {"x:2", "total", "shape inference", "36: ", "</svg>"})
    EXPECT_NE(picture.find(part), std::string::npos) << part;
}

// Time over memory, and what is said of a budget holds for one that is asked for.
TEST_F(EstimateTool, DrawsTheFrontierOfMemoryAndTime) {
  const json all = points({"--frontier", "--caps", lavapipe, "--memory", "naive", "--svg", svg});
  ASSERT_GE(all.size(), 2u);
  size_t knees = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_LE(all[i]["bytes"], all[i]["budget"]);
    EXPECT_GT(all[i]["predicted_ms"], 0.0);
    EXPECT_FALSE(all[i].contains("measured_ms"));
    if (i > 0) {
      EXPECT_LT(all[i - 1]["budget"], all[i]["budget"]);
    }
    knees += all[i]["knee"] ? 1 : 0;
  }
  EXPECT_EQ(knees, 1u);
  EXPECT_EQ(all.back()["way"], "as asked");
  const uint64_t least = all[0]["budget"];
  EXPECT_EQ(
      points({"--caps", lavapipe, "--memory-budget", std::to_string(least)})[0]["vulkan"]["estimate"]["peak"],
      least);
  refused({"--caps", lavapipe, "--memory-budget", "1"}, 1,
          {"smallest that suffices is " + std::to_string(least)});
  const std::string picture = text("curve.svg");
  for (const char* part : {"<svg", "predicted", "knee", "memory budget, MiB", "</svg>"})
    EXPECT_NE(picture.find(part), std::string::npos) << part;
  const std::string table = run_tool({"estimate", model, "--frontier", "--caps", lavapipe}).out;
  for (const char* part : {"budget", "streamed", "knee", "as asked"})
    EXPECT_NE(table.find(part), std::string::npos) << table;
  refused({"--frontier", "--batch", "2"}, 2, {"--batch"});
  refused({"--frontier", "--budget", "64MB"}, 2, {"--budget"});
}

TEST_F(EstimateTool, RefusesWhatItCannotRead) {
  refused({"--sweep", "x=1"}, 1, {"--sweep x=1"});
  refused({"--sweep", "x:7=1"}, 1, {"axis 7"});
  refused({"--sweep", "x:0=1,-2"}, 1, {"x:0=1,-2"});
  refused({"--sweep", "z:0=1"}, 1, {"no input 'z'"});
  refused({"--sweep", "x:0=1,2", "--sweep", "x:2=9"}, 1, {"as many values"});
  refused({"--sweep", "x:0=1", "--batch", "1"}, 2, {"--sweep"});
  refused({"--batch", "0"}, 2, {"--batch"});
  refused({"--batch", "1000000000000"}, 1, {"x"});
  refused({"--budget", "much"}, 2, {"--budget"});
  refused({"--caps", (folder / "none.json").string()}, 1, {"none.json"});
  refused({"--caps", lavapipe, "--device", "0"}, 1, {"--caps"});
  refused({"--shape", "x=1x3"}, 1, {"x"});
}

}  // namespace
}  // namespace vellum::test
