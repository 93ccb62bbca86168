#include <algorithm>

#include "api/small_model.hpp"
#include "run_tool.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

using nlohmann::json;

class Inspect : public testing::Test {
 protected:
  std::string save(const OnnxModel& model) const {
    model.save(folder / "model.onnx");
    return (folder / "model.onnx").string();
  }
  TempFolder folder;
};

TEST_F(Inspect, CountsParametersAndMultiplyAccumulates) {
  const json document = run_json({"inspect", save(small_model())});
  // conv1: 9 x 11 outputs of 5 channels, each a sum over 3 x 3 x 3; conv2: 4 x 5 outputs of 2 channels
  // over 5.
  const uint64_t conv1 = 9 * 11 * 5 * 27, conv2 = 4 * 5 * 2 * 5;
  ASSERT_EQ(document["nodes"].size(), 4u);
  EXPECT_EQ(document["nodes"][0]["name"], "conv1");
  EXPECT_EQ(document["nodes"][0]["op"], "Conv");
  EXPECT_EQ(document["nodes"][0]["macs"], conv1);
  EXPECT_EQ(document["nodes"][0]["parameters"], 5 * 27 + 5);
  EXPECT_EQ(document["nodes"][0]["output_shapes"], json::parse("[[1, 5, 9, 11]]"));
  EXPECT_EQ(document["nodes"][3]["macs"], conv2);
  EXPECT_EQ(document["macs"], conv1 + conv2);
  EXPECT_EQ(document["parameters"], 5 * 27 + 5 + 10);
  EXPECT_EQ(document["operators"], json::parse(R"({"Conv": 2, "Relu": 1, "MaxPool": 1})"));
  EXPECT_EQ(document["inputs"],
            json::parse(R"([{"name": "x", "dtype": "float32", "shape": [1, 3, 9, 11]}])"));
  EXPECT_EQ(document["outputs"],
            json::parse(R"([{"name": "y", "dtype": "float32", "shape": [1, 2, 4, 5]}])"));
}

TEST_F(Inspect, ShowsWhereIntegersBecomeFloats) {
  const std::string model = save(small_model());
  const json graph = run_json({"inspect", model, "--stage", "graph", "--precision", "int8"});
  ASSERT_FALSE(graph["floats_among_integers"].empty());
  for (const json& boundary : graph["floats_among_integers"])
    for (const char* member : {"tensor", "op", "node", "reason"}) EXPECT_TRUE(boundary[member].is_string());
  EXPECT_NE(run_tool({"inspect", model, "--stage", "graph", "--precision", "int8"})
                .out.find("floats among integers:"),
            std::string::npos);
  EXPECT_FALSE(run_json({"inspect", model, "--stage", "graph"}).contains("floats_among_integers"));
}

// The tool's arguments are UTF-8 on every system, and so are its messages.
TEST_F(Inspect, TakesFilesOfAnyName) {
  const std::string name = "größe 文字 🙂.onnx";
  small_model().save(folder.path() / std::u8string(name.begin(), name.end()));
  const std::u8string utf8 = folder.path().u8string();
  const std::string begin = std::string(utf8.begin(), utf8.end()) + "/";
  EXPECT_EQ(run_json({"inspect", begin + name})["nodes"].size(), 4u);
  EXPECT_TRUE(fails({"inspect", begin + "fehlt für 文字.onnx"}, 1, {"fehlt für 文字.onnx"}));
}

TEST_F(Inspect, TableSaysTheSame) {
  const Finished table = run_tool({"inspect", save(small_model())});
  EXPECT_EQ(table.status, 0);
  for (const char* part :
       {"conv1", "13,365", "4 nodes, 150 parameters, 13,565 multiply-accumulates", "MaxPool"})
    EXPECT_NE(table.out.find(part), std::string::npos) << part << "\n" << table.out;
}

TEST_F(Inspect, MarksInputsThatDecideShapesAndTakesTheirValues) {
  OnnxModel source;
  source.input("x", {2, 3}).input("n", {2}, DType::i64).node("Tile", {"x", "n"}, {"y"}).output("y");
  const std::string model = save(source);
  EXPECT_TRUE(fails({"inspect", model}, 1, {"'n'", "--value"}));
  const json document = run_json({"inspect", model, "--value", "n=2,4"});
  EXPECT_EQ(document["inputs"][1]["decides_shapes"], true);
  EXPECT_EQ(document["nodes"][0]["output_shapes"], json::parse("[[4, 12]]"));
  EXPECT_NE(run_tool({"inspect", model, "--value", "n=2,4"}).out.find("n  int64 2  decides shapes"),
            std::string::npos);
  EXPECT_EQ(run_tool({"plan", model, "--value", "n=2,4"}).status, 0);
  for (const char* bad : {"n", "n=2,", "n=,2", "n=two", "z=2"})
    EXPECT_TRUE(fails({"inspect", model, "--value", bad}, 1, {"--value"})) << bad;
  EXPECT_TRUE(fails({"inspect", model, "--value", "n=2,-1"}, 1, {"Tile"}));
}

TEST_F(Inspect, ShowsSignaturesAndVariables) {
  const std::string two = folder.write("two.tflite", model_of_two_signatures()).string();
  const json chosen = run_json({"inspect", two, "--signature", "negate"});
  EXPECT_EQ(chosen["signatures"], json::parse(R"(["negate", "double"])"));
  EXPECT_EQ(chosen["inputs"][0]["signature_name"], "in");
  EXPECT_EQ(chosen["nodes"][0]["op"], "Neg");
  const std::string text = run_tool({"inspect", two}).out;
  EXPECT_NE(text.find("signature  double  (others: negate)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("PartitionedCall:0  float32 2  'out' in the signature\n"), std::string::npos) << text;
  EXPECT_TRUE(fails({"inspect", two, "--signature", "train"}, 1, {"'train'", "'double', 'negate'"}));
  EXPECT_EQ(run_json({"inspect", two, "--shape", "in=3"})["nodes"][0]["output_shapes"], json::parse("[[3]]"));

  const std::string sum = folder.write("sum.tflite", running_sum_model()).string();
  EXPECT_EQ(run_json({"inspect", sum})["inputs"][1]["variable"], true);
  EXPECT_NE(run_tool({"inspect", sum}).out.find("sum  float32 2  variable\n"), std::string::npos);
}

TEST_F(Inspect, OpenDimensionsNeedAShape) {
  const std::string model = save(small_model({1, 3, kUnknownDim, 11}));
  EXPECT_TRUE(fails({"inspect", model}, 1, {"'x'"}));
  const json document = run_json({"inspect", model, "--shape", "x=1x3x7x11"});
  EXPECT_EQ(document["nodes"][3]["output_shapes"], json::parse("[[1, 2, 3, 5]]"));
  EXPECT_TRUE(fails({"inspect", model, "--shape", "z=2x3x9x11"}, 1, {"'z'"}));
  for (const char* bad : {"x", "x=", "x=2x", "x=2xa", "=2", "x=2x-1", "x=99999999999999999999"})
    EXPECT_TRUE(fails({"inspect", model, "--shape", bad}, 1, {"--shape"})) << bad;
}

TEST_F(Inspect, ShowsEachStage) {
  const std::string model = save(small_model());
  for (const char* stage : {"graph", "program", "plan", "barriers"}) {
    const Finished text = run_tool({"inspect", model, "--stage", stage});
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_GT(std::ranges::count(text.out, '\n'), 1) << stage;
    EXPECT_EQ(run_json({"inspect", model, "--stage", stage})["stage"], stage);
  }
}

// As values, not as lines of text.
TEST_F(Inspect, StagesAreStructuredAsJson) {
  const std::string model = save(small_model());
  const auto stage = [&](const char* name) { return run_json({"inspect", model, "--stage", name}); };
  const json graph = stage("graph"), program = stage("program"), plan = stage("plan"),
             barriers = stage("barriers");
  EXPECT_EQ(graph["inputs"][0], json::parse(R"({"name": "x", "dtype": "float32", "shape": [1, 3, 9, 11]})"));
  EXPECT_EQ(graph["nodes"][0]["op"], "Conv");
  EXPECT_EQ(graph["nodes"][0]["inputs"][0]["name"], "x");
  const json& task = program["tasks"].back();
  EXPECT_EQ(task["workgroups"].size(), 3u);
  EXPECT_FALSE(task["shader"].get<std::string>().empty());
  EXPECT_EQ(task["bindings"].back()["access"], "write");
  EXPECT_EQ(program["outputs"][0]["shape"], json::parse("[1, 2, 4, 5]"));
  uint64_t bytes = 0;
  for (const json& object : plan["objects"]) {
    bytes += object["bytes"].get<uint64_t>();
    for (const json& tensor : object["tensors"]) EXPECT_LE(tensor["first_task"], tensor["last_task"]);
  }
  EXPECT_EQ(plan["planned_bytes"], bytes);
  EXPECT_EQ(barriers["tasks"], program["tasks"].size());
  EXPECT_LT(barriers["barriers"][0]["before_task"], barriers["tasks"]);
}

TEST_F(Inspect, OptionsOfAnotherStageAreRefused) {
  const std::string model = save(small_model());
  for (const char* option : {"--code", "--gigamacs", "--gigabytes"}) {
    const std::string error = std::string(option) + " needs --stage kernels";
    EXPECT_TRUE(fails({"inspect", model, option, "7"}, 1, {error}));
    EXPECT_TRUE(fails({"inspect", model, "--stage", "plan", option, "7"}, 1, {error}));
  }
  EXPECT_TRUE(fails({"inspect", model, "--caps", "android_baseline_2022"}, 1, {"--caps needs --stage"}));
}

TEST_F(Inspect, PassesCanBeSwitchedOff) {
  const std::string model = save(small_model());
  const auto nodes = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"inspect", model, "--stage", "graph"});
    return run_json(options)["nodes"].dump();
  };
  EXPECT_EQ(nodes({}).find("Relu"), std::string::npos);  // fused into the convolution
  EXPECT_NE(nodes({"--disable-pass", "fuse_activations"}).find("Relu"), std::string::npos);
  EXPECT_TRUE(fails({"inspect", model, "--disable-pass", "fuse_everything"}, 2, {"fuse_everything"}));
  EXPECT_NE(run_tool({"inspect", "--help-all"}).out.find("fuse_activations"), std::string::npos);
}

}  // namespace
}  // namespace vellum::test
