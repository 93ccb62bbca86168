// The commands that use a device.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "api/detection_model.hpp"
#include "api/small_model.hpp"
#include "io/npy.hpp"
#include "run_tool.hpp"

namespace vellum::test {
namespace {

using nlohmann::json;

void write_npy(const std::filesystem::path& file, const HostTensor& tensor) {
  io::NpyArray array{std::string(name(tensor.dtype())), tensor.shape(), {}};
  const auto* bytes = reinterpret_cast<const uint8_t*>(tensor.data());
  array.data.assign(bytes, bytes + tensor.byte_size());
  io::write_npy(file, array);
}

HostTensor read_npy(const std::filesystem::path& file) {
  const io::NpyArray array = io::read_npy(file);
  EXPECT_EQ(array.dtype, "float32");
  HostTensor tensor(DType::f32, array.shape);
  EXPECT_EQ(tensor.byte_size(), array.data.size());
  std::memcpy(tensor.mutable_data(), array.data.data(), std::min(tensor.byte_size(), array.data.size()));
  return tensor;
}

// The small model with an input and an output whose names no file could have.
OnnxModel oddly_named(const Shape& input) {
  OnnxModel model;
  model.input("in=put:0", input)
      .initializer("w", random_tensor({4, 3, 1, 1}, 1))
      .node("Conv", {"in=put:0", "w"}, {"scores/out:0"})
      .output("scores/out:0");
  return model;
}

class OnDevice : public testing::Test {
 protected:
  // Arguments that put the tool on the test's device.
  std::vector<std::string> with(std::vector<std::string> arguments) const {
    const char* limits = std::getenv("VELLUM_TEST_LIMITS");
    if (limits && std::string(limits) == "android_baseline_2022")
      arguments.insert(arguments.end(), {"--limits", "android-baseline-2022"});
    arguments.insert(arguments.end(), {"--cache", (folder / "cache").string(), "--validation"});
    return arguments;
  }
  std::string save(const OnnxModel& model) const {
    model.save(folder / "model.onnx");
    return (folder / "model.onnx").string();
  }
  std::string path(const char* file) const { return (folder / file).string(); }
  TempFolder folder;
};

TEST_F(OnDevice, DevicesAreListed) {
  const json document = run_json({"devices"});
  ASSERT_FALSE(document["devices"].empty());
  EXPECT_EQ(document["devices"][0]["index"], 0);
  for (const char* key : {"name", "type", "driver", "api_version"})
    EXPECT_FALSE(document["devices"][0][key].get<std::string>().empty()) << key;
  const std::string uuid = document["devices"][0]["uuid"];
  EXPECT_EQ(run_json({"devices", "--device", uuid})["devices"][0]["uuid"], uuid);
  const Finished table = run_tool({"devices"});
  // As wide as a terminal, but for what a driver says of itself.
  for (std::istringstream lines(table.out); !lines.eof();) {
    std::string line;
    std::getline(lines, line);
    EXPECT_LE(line.size(), 100u) << line;
  }
  EXPECT_NE(table.out.find(document["devices"][0]["name"].get<std::string>()), std::string::npos);
  EXPECT_TRUE(
      fails({"run", save(small_model()), "-i", "x=x.npy", "--device", "no such device"}, 1, {"x.npy"}));
  EXPECT_TRUE(fails({"bench", save(small_model()), "--device", "no such device"}, 1, {"no such device"}));
}

TEST_F(OnDevice, DoctorFindsNothingWrong) {
  const std::filesystem::path report = folder / "report.json";
  const json document = run_json(with({"doctor", "--only", "Softmax", "--report", report.string()}));
  EXPECT_FALSE(document["checks"].empty());
  for (const json& check : document["checks"]) EXPECT_TRUE(check["passed"]) << check;
  std::ifstream file(report);
  const json written = json::parse(file);
  EXPECT_EQ(written["checks"], document["checks"]);
  EXPECT_EQ(written["report"], "doctor");
  const Finished text = run_tool(with({"doctor", "--only", "Softmax"}));
  EXPECT_EQ(text.status, 0);
  EXPECT_NE(text.out.find("all compute what the host does"), std::string::npos) << text.out;
  EXPECT_TRUE(fails({"doctor", "--only", "Frobnicate", "--json"}, 1, {"Frobnicate"}));
  EXPECT_EQ(run_json(with({"doctor", "--forget"})), json({{"forgotten", true}}));
}

TEST_F(OnDevice, RunWritesWhatTheHostReferenceComputes) {
  const OnnxModel model = small_model();
  const Graph graph = model.graph();
  const std::vector<HostTensor> inputs = random_inputs(graph, 3);
  const HostTensor expected = evaluate(graph, inputs).front();
  write_npy(folder / "x.npy", inputs.front());
  const std::vector<std::vector<std::string>> choices{
      {},
      {"--memory", "naive", "--submit", "1"},
      {"--storage", "buffer", "--strategy", "greedy_in_order"},
      {"--precision", "fp16"}};
  for (const std::vector<std::string>& choice : choices) {
    std::vector<std::string> arguments{"run", save(model),        "-i", "x=" + path("x.npy"),
                                       "-o",  path("new/results")};
    arguments.insert(arguments.end(), choice.begin(), choice.end());
    const json document = run_json(with(arguments));
    ASSERT_EQ(document["outputs"].size(), 1u);
    const json& output = document["outputs"][0];
    EXPECT_EQ(output["name"], "y");
    EXPECT_EQ(output["dtype"], "float32");
    EXPECT_EQ(output["shape"], json::parse("[1, 2, 4, 5]"));
    EXPECT_EQ(std::filesystem::path(output["file"].get<std::string>()), folder / "new/results/y.npy");
    const bool half = !choice.empty() && choice.back() == "fp16";
    EXPECT_TRUE(close(read_npy(folder / "new/results/y.npy"), expected, half ? 2e-2 : 1e-4));
    std::filesystem::remove_all(folder / "new");
  }
}

// Where the device cannot, it says so; with another precision no device does.
TEST_F(OnDevice, ProductsOfHalves) {
  const OnnxModel model = small_model();
  const Graph graph = model.graph();
  const std::vector<HostTensor> inputs = random_inputs(graph, 3);
  write_npy(folder / "x.npy", inputs.front());
  std::vector<std::string> arguments =
      with({"run", save(model), "-i", "x=" + path("x.npy"), "-o", path("results"), "--arithmetic", "fp16"});
  EXPECT_TRUE(fails(arguments, 1, {"precision fp16"}));
  arguments.insert(arguments.end(), {"--precision", "fp16"});
  const char* driver = std::getenv("VELLUM_TEST_DRIVER");
  if (std::string(driver ? driver : "") != "lavapipe" || std::getenv("VELLUM_TEST_LIMITS")) {
    EXPECT_TRUE(fails(arguments, 1, {"shaderFloat16"}));
    return;
  }
  run_json(arguments);
  EXPECT_TRUE(close(read_npy(folder / "results/y.npy"), evaluate(graph, inputs).front(), 2e-2));
}

TEST_F(OnDevice, NamesAndOpenDimensionsComeFromTheModelAndTheFiles) {
  const OnnxModel model = oddly_named({kUnknownDim, 3, 5, 7});
  const HostTensor input = random_tensor({3, 3, 5, 7}, 4);
  write_npy(folder / "x=1.npy", input);
  const json document =
      run_json(with({"run", save(model), "-i", "in=put:0=" + path("x=1.npy"), "-o", path("results")}));
  EXPECT_EQ(document["outputs"][0]["name"], "scores/out:0");
  EXPECT_EQ(document["outputs"][0]["shape"], json::parse("[3, 4, 5, 7]"));
  const HostTensor expected = evaluate(oddly_named(input.shape()).graph(), {&input, 1}).front();
  EXPECT_TRUE(close(read_npy(folder / "results/scores_out_0.npy"), expected));
}

// The number of boxes is data-dependent; every command accepts such a model.
TEST_F(OnDevice, OutputsWhoseShapesOnlyARunTellsAreWrittenAsTheyCome) {
  const OnnxModel model = detection_model();
  const Graph graph = model.graph();
  const std::vector<HostTensor> inputs{random_tensor({1, 3, 6, 5}, 2)};
  write_npy(folder / "image.npy", inputs.front());
  write_npy(folder / "blank.npy", HostTensor(DType::f32, {1, 3, 6, 5}));
  const HostTensor expected = evaluate(graph, inputs).at(2);
  const std::string file = save(model);
  const Finished run = run_tool(with({"run", file, "-i", "image=" + path("image.npy"), "-o", path("found")}));
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("float32 " + to_string(expected.shape())), std::string::npos) << run.out;
  EXPECT_TRUE(close(read_npy(folder / "found/boxes.npy"), expected));
  EXPECT_EQ(run_tool(with({"run", file, "-i", "image=" + path("blank.npy"), "-o", path("none")})).status, 0);
  EXPECT_EQ(read_npy(folder / "none/boxes.npy").shape(), (Shape{0, 4}));
  EXPECT_NE(run_tool({"inspect", file}).out.find("boxes  float32 ?x4"), std::string::npos);
  for (const auto& arguments : {with({"bench", file, "--json", "--runs", "2"}),
                                with({"profile", file, "--json"}),
                                std::vector<std::string>{"estimate", file, "--json"},
                                {"plan", file, "--json"}}) {
    const Finished finished = run_tool(arguments);
    EXPECT_EQ(finished.status, 0) << arguments[0] << ": " << finished.err;
    EXPECT_TRUE(json::accept(finished.out)) << finished.out;
  }
}

TEST_F(OnDevice, RunNamesTheInputThatIsWrong) {
  const std::string model = save(small_model());
  write_npy(folder / "short.npy", HostTensor(DType::f32, {1, 3, 9, 10}));
  write_npy(folder / "ints.npy", HostTensor(DType::i64, {1, 3, 9, 11}));
  EXPECT_TRUE(fails(with({"run", model, "-o", path("out")}), 1, {"'x'", "1x3x9x11"}));
  EXPECT_TRUE(
      fails(with({"run", model, "-i", "z=" + path("short.npy"), "-o", path("out")}), 1, {"'z'", "'x'"}));
  EXPECT_TRUE(
      fails(with({"run", model, "-i", "x=" + path("short.npy"), "-o", path("out")}), 1, {"'x'", "1x3x9x10"}));
  EXPECT_TRUE(
      fails(with({"run", model, "-i", "x=" + path("ints.npy"), "-o", path("out")}), 1, {"'x'", "int64"}));
  EXPECT_TRUE(fails(with({"run", model, "-i", "x=" + path("none.npy"), "-o", path("out")}), 1, {"none.npy"}));
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_F(OnDevice, PackedModelsTakeThePlaceOfTheirFiles) {
  const std::string model = save(small_model()), packed = path("packed");
  write_npy(folder / "x.npy", random_inputs(small_model().graph(), 3).front());
  const json made = run_json(with({"pack", model, "-o", packed}));
  EXPECT_EQ(made["file_bytes"], std::filesystem::file_size(packed));
  EXPECT_GT(made["shaders"], 0);
  EXPECT_EQ(run_json({"pack", model, "-o", packed, "--caps", "android_baseline_2022"})["weights"], 2);
  for (const std::string& file : {model, packed})
    run_json(with({"run", file, "-i", "x=" + path("x.npy"), "-o", file + "_results"}));
  EXPECT_TRUE(same_bits(read_npy(packed + "_results/y.npy"), read_npy(model + "_results/y.npy")));
  EXPECT_EQ(run_tool({"inspect", packed}).out, run_tool({"inspect", model}).out);
  EXPECT_TRUE(fails(with({"pack", packed, "-o", path("twice")}), 1, {"packed already"}));
  EXPECT_TRUE(fails({"pack", model, "-o", packed, "--caps", path("none.json")}, 1, {"none.json"}));
  const std::vector<std::string> framed = {"bundle", model, "-o", packed, "--caps", "android_baseline_2022"};
  const auto shaders = [&](std::vector<std::string> more) {
    more.insert(more.begin(), framed.begin(), framed.end());
    return run_json(more)["shaders"].get<int>();
  };
  EXPECT_GT(shaders({"--frame", "x=rgba8,area,bgr", "--frame", "x=grey8,border"}), shaders({}) + 1);
  for (const char* wrong : {"x", "x=jpeg", "x=nv12,large"}) {
    std::vector<std::string> arguments = framed;
    arguments.insert(arguments.end(), {"--frame", wrong});
    EXPECT_TRUE(fails(arguments, 1, {"--frame", wrong, "nv12, nv21"}));
  }
  EXPECT_GT(shaders({"--frame", "x=rgb8", "--picture", "y=steps,nearest", "--picture", "y=classes,over:x"}),
            shaders({"--frame", "x=rgb8"}) + 2);
  EXPECT_GT(shaders({"--frame", "x=rgb8", "--images"}), shaders({"--frame", "x=rgb8"}) + 4);
  for (const char* wrong : {"y", "y=heat", "y=ramp,over:", "y=ramp,large"}) {
    std::vector<std::string> arguments = framed;
    arguments.insert(arguments.end(), {"--picture", wrong});
    EXPECT_TRUE(fails(arguments, 1, {"--picture", wrong, "classes, rgb"}));
  }
}

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

TEST_F(OnDevice, QuantizeWritesAFileThatRunsAndReportsItsErrors) {
  const std::string model = save(small_model());
  std::filesystem::create_directory(folder / "examples");
  for (const uint32_t seed : {1, 2, 3})
    write_npy(folder / "examples" / (std::to_string(seed) + ".npy"), random_tensor({1, 3, 9, 11}, seed));
  const json document = run_json(with({"quantize", model, "--calibrate", path("examples"), "-o",
                                       path("q.onnx"), "--examples", "2", "--svg", path("q.svg")}));
  ASSERT_EQ(document["layers"].size(), 2u);
  EXPECT_GT(document["outputs"][0]["db"], 30.0);
  EXPECT_EQ(document["bytes"], std::filesystem::file_size(folder / "q.onnx"));
  EXPECT_GT(std::filesystem::file_size(folder / "q.svg"), 500u);
  EXPECT_EQ(
      run_tool(with({"run", path("q.onnx"), "-i", "x=" + path("examples/1.npy"), "-o", path("out")})).status,
      0);
  const Finished text = run_tool(with({"quantize", model, "--weight-only", "8", "-o", path("w.onnx")}));
  EXPECT_NE(text.out.find("2 of 2 layers in integers"), std::string::npos) << text.out << text.err;
}

TEST_F(OnDevice, QuantizeNamesWhatIsMissing) {
  const std::string model = save(small_model());
  std::filesystem::create_directory(folder / "empty");
  EXPECT_TRUE(fails(with({"quantize", model, "-o", path("q.onnx")}), 1, {"--calibrate"}));
  EXPECT_TRUE(fails(with({"quantize", model, "--calibrate", path("empty"), "-o", path("q.onnx")}), 1,
                    {"no picture and no .npy file"}));
  EXPECT_TRUE(
      fails(with({"quantize", model, "--calibrate", path("nowhere"), "-o", path("q.onnx")}), 1, {"nowhere"}));
}

}  // namespace
}  // namespace vellum::test
