// The commands that measure times and memory on a device, or say what its compiler makes of kernels.
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "api/decoder.hpp"
#include "api/detection_model.hpp"
#include "api/small_model.hpp"
#include "on_device.hpp"

namespace vellum::test {
namespace {

using nlohmann::json;

TEST_F(OnDevice, BenchMeasures) {
  const json document = run_json(with({"bench", save(small_model()), "--runs", "5", "--warm-up", "1"}));
  EXPECT_EQ(document["runs"], 5);
  EXPECT_GT(document["min_ms"], 0);
  EXPECT_LE(document["min_ms"], document["median_ms"]);
  EXPECT_LE(document["median_ms"], document["p95_ms"]);
  EXPECT_GT(document["first_ms"], 0);
  EXPECT_GT(document["load_ms"], 0);
  EXPECT_GE(document["dispatches"], document["pipelines"]);
  EXPECT_GT(document["pipelines"], 0);
  EXPECT_FALSE(document["device"].get<std::string>().empty());
  EXPECT_FALSE(document.contains("in_flight"));
  // Time alone decides how many.
  EXPECT_GE(run_json(with({"bench", save(small_model()), "--seconds", "0.05"}))["runs"], 1);
  EXPECT_FALSE(std::filesystem::is_empty(folder / "cache"));
}

// More runs than the caches have tokens: they are emptied in between.
TEST_F(OnDevice, CachesThatAreFullBeginAgain) {
  const std::string model = save(Decoder({.layers = 1}, DecoderForm::concatenation).model());
  const std::vector<std::string> options{model,     "--state",       "auto",    "--state-capacity",  "8",
                                         "--shape", "input_ids=1x3", "--shape", "attention_mask=1x8"};
  const auto measured = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin() + 1, options.begin(), options.end());
    return run_json(with(arguments));
  };
  EXPECT_EQ(measured({"bench", "--runs", "5"})["runs"], 5);
  EXPECT_FALSE(measured({"profile", "--runs", "4"})["layers"].empty());
  const auto state_bytes = [&](std::vector<std::string> more) {
    more.insert(more.begin(), "estimate");
    return measured(std::move(more))["points"][0]["estimate"]["state"].get<uint64_t>();
  };
  // Two caches of eight tokens and two heads of eight channels, and the length.
  EXPECT_EQ(state_bytes({}), 2u * 8 * 2 * 8 * 4 + 16);
  EXPECT_EQ(state_bytes({"--state-precision", "int8"}), 2u * 8 * 2 * (8 + 4) + 16);
}

// A node and a file whose names are their owner's.
OnnxModel named_model() {
  OnnxModel model;
  model.input("x", {1, 3, 9, 11})
      .initializer("w", random_tensor({4, 3, 3, 3}, 1))
      .node("Conv", {"x", "w"}, {"secret_tensor"}, attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}))
      .node("Softmax", {"secret_tensor"}, {"y"})
      .output("y");
  return model;
}

TEST_F(OnDevice, BenchReportHasTheTimeAndThePredictionOfEachDispatch) {
  const std::string report = path("report.json");
  const json bench = run_json(with({"bench", save(named_model()), "--runs", "2", "--report", report}));
  std::ifstream file(report);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const json document = json::parse(text);
  EXPECT_EQ(document["report"], "bench");
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["model"], "model.onnx");
  EXPECT_FALSE(document["caps"]["name"].get<std::string>().empty());
  EXPECT_GT(document["inference"]["min_ms"], 0);
  EXPECT_GT(document["rates"]["gigamacs_per_s"], 0);
  EXPECT_EQ(document["rates"]["chip_is_known"], false);
  ASSERT_EQ(document["dispatches"].size(), bench["dispatches"]);
  double macs = 0;
  for (const json& dispatch : document["dispatches"]) {
    const json& pipeline = document["pipelines"].at(dispatch["pipeline"].get<size_t>());
    EXPECT_FALSE(pipeline["shader"].get<std::string>().empty());
    EXPECT_GE(dispatch["predicted_us"], dispatch["overhead_us"]);
    EXPECT_GT(dispatch["gpu_us"], 0) << dispatch;
    EXPECT_FALSE(dispatch["storage"].get<std::string>().empty());
    macs += dispatch["macs"].get<double>();
  }
  EXPECT_EQ(macs, 9 * 11 * 4 * 3 * 9);
  EXPECT_TRUE(document["dispatches"][0]["pause_us"].is_null());
  for (const std::string& owners : {std::string("secret_tensor"), folder.path().string()})
    EXPECT_EQ(text.find(owners), std::string::npos) << owners;
}

TEST_F(OnDevice, BenchTakesValuesThatDecideShapes) {
  OnnxModel source;
  source.input("x", {2, 3}).input("n", {2}, DType::i64).node("Tile", {"x", "n"}, {"y"}).output("y");
  EXPECT_EQ(run_json(with({"bench", save(source), "--value", "n=2,4", "--runs", "1"}))["runs"], 1);
}

TEST_F(OnDevice, TuneSaysWhatItMeasuredAndRunsGoOnToBeRight) {
  const std::string model = save(small_model());
  const json report = run_json(with({"tune", model, "--no-storages"}));
  ASSERT_GT(report["operators"].size(), 0u);
  for (const json& op : report["operators"]) {
    EXPECT_FALSE(op["tuned"].get<std::string>().empty());
    EXPECT_EQ(op["measured"], op["candidates"] > 1) << op;
  }
  EXPECT_TRUE(report["complete"]);
  EXPECT_TRUE(report["warnings"].empty()) << report["warnings"];
  EXPECT_GT(report["untuned_ms"], 0);
  EXPECT_GT(run_json(with({"bench", model, "--runs", "2"}))["min_ms"], 0);
  EXPECT_GT(run_json(with({"bench", model, "--runs", "2", "--tune", "--tune-seconds", "0.01"}))["min_ms"], 0);
  const Finished table = run_tool(with({"tune", model, "--all", "--no-storages"}));
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_NE(table.out.find("Conv 1x5x9x11"), std::string::npos) << table.out;
  EXPECT_EQ(run_json(with({"tune", "--forget"}))["forgotten"], true);
  EXPECT_TRUE(fails(with({"tune"}), 1, {"--forget"}));
}

TEST_F(OnDevice, BenchMeasuresRunsInFlight) {
  const json document =
      run_json(with({"bench", save(small_model()), "--runs", "5", "--warm-up", "1", "--in-flight", "3"}));
  EXPECT_EQ(document["in_flight"]["runs"], 3);
  EXPECT_GT(document["in_flight"]["alone_ms"], 0);
  EXPECT_GT(document["in_flight"]["together_ms"], 0);
}

TEST_F(OnDevice, ProfileAccountsForEveryTensor) {
  const std::string model = save(small_model());
  const json shared = run_json(with({"profile", model, "--runs", "2"}));
  uint64_t bytes = 0;
  for (const json& object : shared["objects"]) {
    EXPECT_EQ(object["reuse_count"], object["tensors"].size());
    for (const char* key : {"id", "kind", "extent", "format"}) EXPECT_TRUE(object.contains(key)) << key;
    bytes += object["bytes"].get<uint64_t>();
  }
  EXPECT_EQ(shared["planned_bytes"], bytes);
  EXPECT_GE(shared["allocated_bytes"], shared["planned_bytes"]);
  EXPECT_GE(shared["naive_bytes"], shared["planned_bytes"]);
  EXPECT_GE(shared["planned_bytes"], shared["lower_bound_bytes"]);
  EXPECT_GT(shared["weights_bytes"], 0);
  EXPECT_EQ(shared["peak_weights_bytes"], shared["weights_bytes"]);
  EXPECT_GE(shared["layers"].size(), 3u);
  for (const json& layer : shared["layers"])
    for (const char* key : {"name", "op", "gpu_ms"}) EXPECT_TRUE(layer.contains(key)) << key;

  const json naive = run_json(with({"profile", model, "--runs", "1", "--memory", "naive"}));
  EXPECT_EQ(naive["planned_bytes"], naive["naive_bytes"]);
  for (const json& object : naive["objects"]) EXPECT_EQ(object["reuse_count"], 1);

  const Finished table = run_tool(with({"profile", model, "--order", "time", "--top", "1"}));
  EXPECT_EQ(table.status, 0) << table.err;
  for (const char* part : {"reused", "lower bound", "allocated from Vulkan", "naive"})
    EXPECT_NE(table.out.find(part), std::string::npos) << part;
}

TEST_F(OnDevice, ProfileShowsAWeightsBudget) {
  OnnxModel model;
  model.input("x0", {1, 16, 12, 12});
  for (const std::string i : {"0", "1", "2", "3"})
    model.initializer("w" + i, random_tensor({16, 16, 3, 3}, 1 + i[0]))
        .node("Conv", {"x" + i, "w" + i},
              {i == "3" ? "y" : "x" + std::string(1, static_cast<char>(i[0] + 1))});
  const std::string file = save(model.output("y"));
  const json resident = run_json(with({"profile", file, "--runs", "1"}));
  EXPECT_EQ(resident["streamed_weights_bytes"], 0);
  const json streamed = run_json(with({"profile", file, "--runs", "1", "--weights-budget", "24KiB"}));
  EXPECT_LE(streamed["peak_weights_bytes"], 24 << 10);
  EXPECT_EQ(streamed["total_weights_bytes"], resident["total_weights_bytes"]);
  EXPECT_GE(streamed["streamed_weights_bytes"], streamed["total_weights_bytes"].get<int>() - (24 << 10));
  const Finished table = run_tool(with({"profile", file, "--runs", "1", "--weights-budget", "24KiB"}));
  EXPECT_NE(table.out.find("of weights streamed"), std::string::npos) << table.out << table.err;
  const Finished refused = run_tool(with({"profile", file, "--weights-budget", "1KiB"}));
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("weights budget of 1024 bytes"), std::string::npos) << refused.err;
}

TEST_F(OnDevice, MemoryBudgetsAreKeptAndTheirFrontierIsMeasured) {
  const std::string file = save(small_model());
  const json points = run_json(with({"estimate", file, "--frontier", "--measure"}))["points"];
  ASSERT_FALSE(points.empty());
  for (const json& point : points) {
    EXPECT_GT(point["measured_ms"], 0.0);
    EXPECT_EQ(point["measured_peak_bytes"], point["bytes"]);
  }
  const std::string budget = to_string(points[0]["budget"]);
  const json memory = run_json(with({"profile", file, "--runs", "1", "--memory-budget", budget}));
  EXPECT_EQ(memory["memory_budget"], points[0]["budget"]);
  EXPECT_EQ(memory["budget_peak_bytes"], points[0]["bytes"]);
  const Finished table = run_tool(with({"profile", file, "--runs", "1", "--memory-budget", budget}));
  EXPECT_NE(table.out.find("of a memory budget of"), std::string::npos) << table.out << table.err;
}

TEST_F(OnDevice, ProfileWritesAPageAndATrace) {
  const json document = run_json(with(
      {"profile", save(small_model()), "--runs", "2", "--html", path("p.html"), "--trace", path("p.json")}));
  std::ifstream page(folder / "p.html", std::ios::binary), trace_file(folder / "p.json", std::ios::binary);
  const std::string html{std::istreambuf_iterator<char>(page), {}};
  const std::string begin = "id=\"data\">";
  const size_t from = html.find(begin);
  ASSERT_NE(from, std::string::npos);
  const json data =
      json::parse(html.substr(from + begin.size(), html.find("</script>", from) - from - begin.size()));
  EXPECT_EQ(data["model"], "model.onnx");
  EXPECT_EQ(data["tasks"].size(), document["layers"].size());
  // Every tensor is inside its object, and one object's tensors do not live at the same time (in place: one
  // begins at the task that reads the other for the last time).
  std::vector<int64_t> free_from(data["objects"].size(), -1);
  for (const json& tensor : data["tensors"]) {
    const json& object = data["objects"].at(tensor["object"].get<size_t>());
    EXPECT_LE(tensor["address"].get<uint64_t>() + tensor["bytes"].get<uint64_t>(),
              object["base"].get<uint64_t>() + object["bytes"].get<uint64_t>());
    int64_t& last = free_from[tensor["object"].get<size_t>()];
    EXPECT_GE(tensor["first"].get<int64_t>(), last);
    last = tensor["last"];
  }
  const json trace = json::parse(trace_file);
  std::map<std::string, size_t> slices;
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == "X") ++slices[event["cat"]];
  EXPECT_EQ(slices["tensor"], data["tensors"].size());
  EXPECT_EQ(slices["task"], document["dispatches"]);
}

// Drivers on the CPU lack the extension; tests/gpu_compilers reads the reports of GPUs' drivers.
TEST_F(OnDevice, InspectSaysWhatTheCompilerMakesOfKernels) {
  const std::string model = save(small_model());
  const Finished found = run_tool(with({"inspect", model, "--stage", "kernels", "--json"}));
  if (found.status == 1) {
    EXPECT_NE(found.err.find("VK_KHR_pipeline_executable_properties"), std::string::npos) << found.err;
  } else {
    ASSERT_EQ(found.status, 0) << found.err;
    const json report = json::parse(found.out);
    uint64_t macs = 0;
    double predicted_us = 0;
    for (const json& dispatch : report["dispatches"]) {
      macs += dispatch["macs"].get<uint64_t>();
      EXPECT_LT(dispatch["pipeline"], report["pipelines"].size());
      if (report["rates"].is_null()) {
        EXPECT_TRUE(dispatch["predicted_us"].is_null());
        continue;
      }
      predicted_us += dispatch["predicted_us"].get<double>();
      EXPECT_GT(dispatch["predicted_us"].get<double>(), dispatch["memory_us"].get<double>());
    }
    if (!report["rates"].is_null()) {
      EXPECT_NEAR(report["predicted_ms"], predicted_us / 1e3, 1e-6);
    }
    EXPECT_GT(macs, 0u);
    for (const json& pipeline : report["pipelines"])
      EXPECT_FALSE(pipeline["code"].empty()) << pipeline["shader"];
  }
  const Finished refused =
      run_tool({"inspect", model, "--stage", "kernels", "--caps", "android_baseline_2022"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("needs a device"), std::string::npos) << refused.err;
}

TEST_F(OnDevice, ComparisonRunsEachMode) {
  const json rows = run_json(with({"plan", save(small_model()), "--compare", "--device", "0"}))["comparison"];
  ASSERT_EQ(rows.size(), 14u) << "naive, and each mode with each way, none and all; each unfused too";
  size_t measured = 0;
  for (const json& row : rows) {
    if (!row.contains("median_ms")) continue;
    ++measured;
    EXPECT_EQ(row["allocated_bytes"], row["planned_bytes"]) << row;
    EXPECT_GT(row["median_ms"], 0) << row;
  }
  EXPECT_EQ(measured, 3u);
}

TEST_F(OnDevice, CapsFilesStandForTheDevice) {
  const std::string model = save(small_model()), caps = path("caps.json");
  ASSERT_EQ(run_tool(with({"devices", "--device", "0", "--save-caps", caps})).status, 0);
  const json there = run_json(with({"inspect", model, "--stage", "program", "--device", "0"}));
  EXPECT_EQ(run_json({"inspect", model, "--stage", "program", "--caps", caps}), there);
  // Sizes in memory are modelled there and asked for here.
  for (const char* mode : {"shared-objects", "offsets"})
    EXPECT_EQ(run_json({"inspect", model, "--stage", "plan", "--memory", mode, "--caps", caps}),
              run_json(with({"inspect", model, "--stage", "plan", "--memory", mode, "--device", "0"})));
  json document = json::parse(std::ifstream(folder / "caps.json"));
  const auto refused = [&](const json& changed, const std::vector<std::string>& parts) {
    std::ofstream(folder / "bad.json") << changed.dump();
    EXPECT_TRUE(fails({"inspect", model, "--stage", "program", "--caps", path("bad.json")}, 1, parts));
  };
  json changed = document;
  changed.erase("max_shared_memory_bytes");
  refused(changed, {"bad.json", "max_shared_memory_bytes"});
  changed = document;
  changed["max_image_dimension_2d"] = uint64_t{1} << 40;
  refused(changed, {"max_image_dimension_2d", "4294967295"});
  changed = document;
  changed["vellum_caps"] = 99;
  refused(changed, {"version 99"});
  changed = document;
  changed["max_wings"] = 2;
  refused(changed, {"max_wings"});
  refused(json::array(), {"--save-caps"});
}

TEST_F(OnDevice, EstimateIsWhatIsMeasured) {
  const std::string model = save(small_model());
  const json document = run_json(with({"estimate", model, "--batch", "1,3", "--measure", "--budget", "1KB"}));
  ASSERT_EQ(document["points"].size(), 2u);
  for (const json& point : document["points"]) {
    EXPECT_EQ(point["vulkan"]["estimate"], point["vulkan"]["measured"]);
    for (const char* side : {"estimate", "measured"}) {
      uint64_t sum = 0;
      for (const char* key : {"weights", "in_out", "intermediates", "workspace", "staging", "resident"})
        sum += point[side][key].get<uint64_t>();
      EXPECT_EQ(point[side]["total"], sum);
    }
    EXPECT_EQ(point["error_percent"]["weights"], 0);
    EXPECT_FALSE(point["budget"]["fits"]);
  }
  EXPECT_EQ(document["points"][1]["batch"], 3);
  const Finished table = run_tool({"estimate", model, "--svg", path("curve.svg"), "--sweep", "x:0=1,2,4"});
  EXPECT_EQ(table.status, 0) << table.err;
  for (const char* part : {"Android Baseline 2022", "shape inference", "x:0"})
    EXPECT_NE(table.out.find(part), std::string::npos) << part;
  EXPECT_TRUE(std::filesystem::exists(folder / "curve.svg"));
  EXPECT_TRUE(fails({"estimate", model, "--sweep", "x=1"}, 1, {"x=1"}));
  EXPECT_TRUE(fails({"estimate", model, "--sweep", "x:7=1"}, 1, {"axis 7"}));
}

}  // namespace
}  // namespace vellum::test
