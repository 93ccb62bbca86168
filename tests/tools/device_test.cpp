// The commands that compute on a device.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "api/detection_model.hpp"
#include "api/small_model.hpp"
#include "io/npy.hpp"
#include "on_device.hpp"

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
  // Every variant runs many times, but each is one row of the report.
  const json quick = run_json(with({"doctor", "--only", "Trilu"}));
  EXPECT_GE(run_json(with({"doctor", "--only", "Trilu", "--thorough"}))["checks"].size(),
            quick["checks"].size());
  EXPECT_TRUE(fails({"doctor", "--only", "Frobnicate", "--json"}, 1, {"Frobnicate"}));
  EXPECT_EQ(run_json(with({"doctor", "--forget"})), json({{"forgotten", true}}));
}

// Names as TFLite's converter joins them are longer than file systems allow, and may begin alike.
TEST_F(OnDevice, RunCutsTheNamesOfFiles) {
  const std::string joined(250, 'n');
  OnnxModel model;
  model.input("x", {2});
  for (const char* end : {"a", "b"}) model.node("Relu", {"x"}, {joined + end}).output(joined + end);
  write_npy(folder / "x.npy", random_tensor({2}, 1));
  const json document =
      run_json(with({"run", save(model), "-i", "x=" + path("x.npy"), "-o", path("results")}));
  ASSERT_EQ(document["outputs"].size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const std::filesystem::path file = document["outputs"][i]["file"].get<std::string>();
    EXPECT_EQ(file.filename(), std::string(200, 'n') + "-" + std::to_string(i) + ".npy");
    EXPECT_TRUE(std::filesystem::exists(file));
  }
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

TEST_F(OnDevice, FilesMayHaveEveryType) {
  for (const DType type : {DType::f16, DType::f64, DType::i64, DType::i32, DType::i16, DType::i8, DType::u64,
                           DType::u32, DType::u16, DType::u8, DType::boolean}) {
    SCOPED_TRACE(name(type));
    OnnxModel model;
    model.input("x", {2}, type).node("Cast", {"x"}, {"y"}, attributes({{"to", int64_t{1}}})).output("y");
    const HostTensor values = HostTensor::f32({2}, std::array{1.0f, 0.0f});
    write_npy(folder / "x.npy", cast(values, type));
    ASSERT_EQ(run_tool(with({"run", save(model), "-i", "x=" + path("x.npy"), "-o", path("cast")})).status, 0);
    EXPECT_TRUE(close(read_npy(folder / "cast/y.npy"), values, 0));
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

TEST_F(OnDevice, QuantizeTakesTypesAndRanges) {
  const std::string model = save(small_model());
  std::filesystem::create_directory(folder / "pictures");
  write_npy(folder / "pictures" / "x.npy", random_tensor({1, 3, 9, 11}, 1));
  const auto decibels = [&](std::vector<std::string> options) {
    std::vector<std::string> arguments{"quantize",       model, "--calibrate",
                                       path("pictures"), "-o",  path("q.onnx")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_json(with(arguments))["outputs"][0]["db"].get<double>();
  };
  EXPECT_GT(decibels({"--activations", "int8"}), 30.0);
  // Cutting a fifth of the values costs more than rounding all of them.
  EXPECT_LT(decibels({"--ranges", "percentile", "--percentile", "80"}),
            decibels({"--ranges", "percentile", "--percentile", "100"}) - 6);
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
