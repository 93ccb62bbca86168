// Outputs with data-dependent shapes: non-maximum suppression and similar operators, and their readers on the
// host.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "detection_model.hpp"
#include "public_interface.hpp"
#include "support/errors.hpp"
#include "vellum/estimate.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

using Outputs = std::map<std::string, Tensor>;

struct Corners {
  float y0, x0, y1, x1;
  explicit Corners(const float* b)
      : y0(std::min(b[0], b[2])),
        x0(std::min(b[1], b[3])),
        y1(std::max(b[0], b[2])),
        x1(std::max(b[1], b[3])) {}
  float area() const { return (y1 - y0) * (x1 - x0); }
};

bool overlap(const Corners& a, const Corners& b) {
  const float height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  const float width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  if (height <= 0 || width <= 0) return false;
  return height * width / (a.area() + b.area() - height * width) > kIouThreshold;
}

struct Detection {
  int64_t kind;
  size_t box;
};

// Class by class the best box that is left, and away with those that it overlaps: not how Vellum does it.
std::vector<Detection> suppress(const Tensor& boxes, const Tensor& scores, int64_t most) {
  std::vector<Detection> kept;
  for (int64_t kind = 0; kind < scores.shape()[1]; ++kind) {
    const auto row = scores.as<float>().subspan(static_cast<size_t>(kind) * 30, 30);
    std::vector<size_t> left;
    for (size_t i = 0; i < row.size(); ++i)
      if (row[i] > kScoreThreshold) left.push_back(i);
    for (int64_t taken = 0; taken < most && !left.empty(); ++taken) {
      const size_t best =
          *std::max_element(left.begin(), left.end(), [&](size_t a, size_t b) { return row[a] < row[b]; });
      kept.push_back({kind, best});
      const Corners winner(&boxes.as<float>()[best * 4]);
      std::erase_if(
          left, [&](size_t i) { return i == best || overlap(winner, Corners(&boxes.as<float>()[i * 4])); });
    }
  }
  return kept;
}

// The suppression is the host's, on what the device computed, so that nothing may differ at all.
void expect_detections(const Outputs& outputs, int64_t most) {
  const auto kept = suppress(outputs.at("all_boxes"), outputs.at("all_scores"), most);
  const auto count = static_cast<int64_t>(kept.size());
  EXPECT_EQ(outputs.at("count").to_ints(), std::vector<int64_t>{count});
  ASSERT_EQ(outputs.at("boxes").type(), (TensorType{DType::f32, {count, 4}}));
  ASSERT_EQ(outputs.at("scores").type(), (TensorType{DType::f32, {count}}));
  ASSERT_EQ(outputs.at("classes").type(), (TensorType{DType::f32, {count}}));
  const auto all_boxes = outputs.at("all_boxes").as<float>(), boxes = outputs.at("boxes").as<float>();
  for (size_t i = 0; i < kept.size(); ++i) {
    EXPECT_TRUE(std::equal(&boxes[i * 4], &boxes[i * 4] + 4, &all_boxes[kept[i].box * 4])) << i;
    EXPECT_EQ(outputs.at("scores").as<float>()[i],
              outputs.at("all_scores").as<float>()[static_cast<size_t>(kept[i].kind) * 30 + kept[i].box]);
    EXPECT_EQ(outputs.at("classes").as<float>()[i], static_cast<float>(kept[i].kind));
  }
}

const TensorInfo& info(const std::vector<TensorInfo>& infos, std::string_view name) {
  return *std::find_if(infos.begin(), infos.end(),
                       [&](const TensorInfo& found) { return found.name == name; });
}

// Warnings that something runs on the host are what these tests expect; all others fail them.
DeviceOptions options_of_device() {
  DeviceOptions options = device_options();
  options.log = [log = options.log](LogLevel level, std::string_view message) {
    if (message.find("on the host: the shape of its output") == std::string_view::npos) log(level, message);
  };
  return options;
}

class Tail : public testing::Test {
 protected:
  Device device = Device::open(options_of_device());
};

TEST_F(Tail, GathersWhatSuppressionKeepsAnewInEachRun) {
  Session session(device, load(detection_model()));
  std::vector<int64_t> counts;
  for (const uint32_t seed : {2u, 3u, 4u, 2u}) {
    const Outputs outputs = session.run({{"image", random_tensor({1, 3, 6, 5}, seed)}});
    expect_detections(outputs, 5);
    counts.push_back(outputs.at("count").to_ints().at(0));
    EXPECT_EQ(info(session.outputs(), "boxes").shape, (Shape{counts.back(), 4}));
  }
  EXPECT_EQ(counts.front(), counts.back());
  EXPECT_NE(counts[0], counts[1]) << "the test should see different numbers of boxes";
  const Outputs none = session.run({{"image", Tensor(DType::f32, {1, 3, 6, 5})}});
  EXPECT_EQ(none.at("boxes").shape(), (Shape{0, 4}));
  expect_detections(none, 5);
}

TEST_F(Tail, AgreesWithTheHostReferenceWhateverStorageAndMemoryMode) {
  const OnnxModel model = detection_model();
  const Graph graph = model.graph();
  const std::vector<HostTensor> inputs{random_tensor({1, 3, 6, 5}, 2)};
  const std::vector<HostTensor> expected = evaluate(graph, inputs);
  for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer})
    for (const MemoryMode memory : {MemoryMode::shared_objects, MemoryMode::offsets, MemoryMode::naive}) {
      Session session(device, load(model), {.storage = storage, .memory = memory, .tasks_per_submit = 1});
      const Outputs outputs = session.run({{"image", inputs[0]}});
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_TRUE(close(outputs.at(graph.values[graph.outputs[i]].name), expected[i])) << i;
      const MemoryReport report = session.memory();
      EXPECT_EQ(report.planned_bytes, report.allocated_bytes);
    }
}

TEST_F(Tail, TellsBeforeARunWhatIsNotKnown) {
  const Model model = load(detection_model());
  Session session(device, model);
  for (const auto& infos : {model.outputs(), session.outputs()}) {
    EXPECT_EQ(infos.size(), 6u);
    EXPECT_EQ(infos[0].name, "all_boxes");
    EXPECT_EQ(infos[0].shape, (Shape{30, 4}));
    EXPECT_EQ(info(infos, "boxes").shape, (Shape{kUnknownDim, 4}));
    EXPECT_EQ(info(infos, "scores").shape, (Shape{kUnknownDim}));
    EXPECT_EQ(info(infos, "count").shape, (Shape{1}));
    EXPECT_EQ(info(infos, "count").dtype, DType::i64);
    EXPECT_EQ(infos[5].name, "all_scores");
  }
  EXPECT_VELLUM_ERROR(session.output("boxes"), ErrorCode::invalid_argument, "'boxes'", "run");
  ASSERT_EQ(session.warnings().size(), 1u);
  EXPECT_NE(session.warnings()[0].find("NonMaxSuppression 'nms'"), std::string::npos)
      << session.warnings()[0];
  const auto nodes = model.nodes();
  EXPECT_TRUE(std::any_of(nodes.begin(), nodes.end(),
                          [](const NodeInfo& node) { return node.op == "NonMaxSuppression"; }));
  for (const char* stage : {"graph", "program", "plan"}) EXPECT_FALSE(describe(model, stage).empty());
}

TEST_F(Tail, IsPartOfTheProfileWithoutTimesOfTheDevice) {
  Session session(device, load(detection_model()), {.profile = true});
  session.run({{"image", random_tensor({1, 3, 6, 5}, 2)}});
  const std::vector<LayerTime> layers = session.layer_times();
  EXPECT_GT(layers.size(), session.dispatch_count());
  EXPECT_TRUE(std::any_of(layers.begin(), layers.end(), [](const LayerTime& layer) {
    return layer.op == "NonMaxSuppression" && layer.shader.empty() && layer.gpu_ms != layer.gpu_ms;
  }));
}

TEST_F(Tail, ItsMemoryIsEstimated) {
  const Model model = load(detection_model());
  const MemoryEstimate estimate = estimate_memory(model, {}, device);
  // The boxes and scores that the host picks from are more than all constants of the model.
  EXPECT_GE(estimate.resident.host, (30 * 4 + 2 * 30) * sizeof(float));
  Session session(device, model);
  EXPECT_EQ(estimate.vulkan.intermediates, session.memory().allocated_bytes);
  EXPECT_EQ(estimate.vulkan.in_out, session.memory().in_out_bytes);
}

// Boxes and scores that the caller gives: nothing is left for the device.
TEST_F(Tail, MayBeTheWholeModel) {
  OnnxModel model(11);
  model.input("boxes", {1, 3, 4})
      .input("scores", {1, 1, 3})
      .input("most", {1}, DType::i64)
      .node("NonMaxSuppression", {"boxes", "scores", "most"}, {"kept"})
      .output("kept");
  Session session(device, load(model));
  EXPECT_EQ(session.dispatch_count(), 0u);
  const auto boxes = Tensor::f32({1, 3, 4}, std::vector<float>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
  const auto scores = Tensor::f32({1, 1, 3}, std::vector<float>{0.1f, 0.9f, 0.5f});
  for (const int64_t most : {2, 0, 3, -1}) {
    const auto kept = session
                          .run({{"boxes", boxes},
                                {"scores", scores},
                                {"most", Tensor::i64({1}, std::vector<int64_t>{most})}})
                          .at("kept");
    EXPECT_EQ(kept.shape(), (Shape{std::max<int64_t>(most, 0), 3}));
  }
}

// Another way to detect: every place above a threshold, without a number of boxes that anything bounds.
TEST_F(Tail, FollowsNonZeroAndCompressToo) {
  OnnxModel model;
  model.input("x", {2, 6})
      .initializer("zero", HostTensor::f32({}, std::vector<float>{0.0f}))
      .initializer("whole", HostTensor::i64({1}, std::vector<int64_t>{-1}))
      .node("Relu", {"x"}, {"positive"})
      .node("NonZero", {"positive"}, {"places"})
      .node("Transpose", {"places"}, {"rows"})
      .node("GatherND", {"x", "rows"}, {"values"})
      .node("Greater", {"x", "zero"}, {"mask"})
      .node("Reshape", {"mask", "whole"}, {"flat_mask"})
      .node("Compress", {"x", "flat_mask"}, {"same_values"})
      .output("values")
      .output("same_values");
  Session session(device, load(model));
  EXPECT_EQ(info(session.outputs(), "values").shape, Shape{kUnknownDim});
  for (const uint32_t seed : {1u, 2u, 3u}) {
    const Tensor x = random_tensor({2, 6}, seed);
    std::vector<float> expected;
    for (const float value : x.as<float>())
      if (value > 0) expected.push_back(value);
    const Outputs outputs = session.run({{"x", x}});
    EXPECT_EQ(outputs.at("values").to_floats(), expected);
    EXPECT_EQ(outputs.at("same_values").to_floats(), expected);
  }
}

TEST_F(Tail, ItsNodesAreListedWhereNotEvenTheNumberOfDimensionsIsKnown) {
  OnnxModel model;
  model.input("x", {2, 3}).initializer("w", random_tensor({2, 2}, 1));
  model.node("NonZero", {"x"}, {"at"}).node("Shape", {"at"}, {"shape"});
  model.node("Cast", {"at"}, {"floats"}, attributes({{"to", int64_t{1}}}));
  model.node("Reshape", {"floats", "shape"}, {"rows"}).node("MatMul", {"w", "rows"}, {"y"}, {}, "product");
  model.output("y");
  const std::vector<NodeInfo> nodes = load(model).nodes();
  ASSERT_FALSE(nodes.empty());
  EXPECT_EQ(nodes.back().name, "product");
  EXPECT_EQ(nodes.back().macs, 0u);
}

// Weights that a run computes cannot be packed.
TEST_F(Tail, KeepsLayersOfNetworksOffTheHostAndNamesTheWayOut) {
  OnnxModel model;
  model.input("x", {2, 6})
      .input("weights", {8, 1, 3})
      .initializer("axis", HostTensor::i64({1}, std::vector<int64_t>{1}))
      .node("Compress", {"x", "mask"}, {"kept"}, attributes({{"axis", int64_t{1}}}), "choose")
      .input("mask", {6}, DType::boolean)
      .node("Unsqueeze", {"kept", "axis"}, {"image"})
      .node("Conv", {"image", "weights"}, {"y"}, {}, "late")
      .output("y");
  EXPECT_VELLUM_ERROR(Session(device, load(model)), ErrorCode::unsupported, "Conv 'late'",
                      "Compress 'choose'", "cut the model");
}

// A few layers on as many rows of x as its first column has numbers above 0.
OnnxModel rows_model(int64_t softmax_axis) {
  OnnxModel model;
  model.input("x", {40, 64}).initializer("zero", HostTensor::f32({}, std::vector<float>{0.0f}));
  model.initializer("column", HostTensor::i64({}, std::vector<int64_t>{0}));
  model.initializer("w1", random_tensor({64, 80}, 11)).initializer("b1", random_tensor({80}, 12));
  model.initializer("w2", random_tensor({80, 64}, 13));
  model.initializer("as_image", HostTensor::i64({4}, std::vector<int64_t>{-1, 1, 8, 8}));
  model.initializer("kernel", random_tensor({6, 1, 3, 3}, 14));
  model.node("Relu", {"x"}, {"r"})
      .node("Gather", {"r", "column"}, {"first"}, attributes({{"axis", int64_t{1}}}));
  model.node("Greater", {"first", "zero"}, {"mask"})
      .node("Compress", {"r", "mask"}, {"rows"}, attributes({{"axis", int64_t{0}}}), "choose");
  model.node("Gemm", {"rows", "w1", "b1"}, {"h"}, {}, "hidden").node("Relu", {"h"}, {"a"});
  model.node("Softmax", {"a"}, {"s"}, attributes({{"axis", softmax_axis}}))
      .node("MatMul", {"s", "w2"}, {"y"});
  model.node("Reshape", {"y", "as_image"}, {"image"}).node("Conv", {"image", "kernel"}, {"z"}, {}, "late");
  return std::move(model.output("y").output("z"));
}

TEST_F(Tail, LayersRunOnTheDeviceForWhateverNumberOfRows) {
  for (const int64_t axis : {1, 0}) {
    const OnnxModel model = rows_model(axis);
    const Graph graph = model.graph();
    Session session(device, load(model));
    ASSERT_EQ(session.warnings().size(), 1u);
    EXPECT_NE(session.warnings()[0].find("2 groups of layers"), std::string::npos) << session.warnings()[0];
    for (const int64_t rows : {9, 1, 40, 10, 0, 9}) {
      Tensor x = random_tensor({40, 64}, static_cast<uint32_t>(rows));
      for (int64_t i = 0; i < 40; ++i)
        x.mutable_as<float>()[static_cast<size_t>(i) * 64] = i < rows ? 0.5f : -0.5f;
      const std::vector<HostTensor> expected = evaluate(graph, std::vector<HostTensor>{x});
      const Outputs outputs = session.run({{"x", x}});
      EXPECT_EQ(outputs.at("y").shape(), (Shape{rows, 64}));
      EXPECT_EQ(outputs.at("z").shape(), (Shape{rows, 6, 6, 6}));
      EXPECT_TRUE(close(outputs.at("y"), expected[0])) << rows;
      EXPECT_TRUE(close(outputs.at("z"), expected[1])) << rows;
    }
  }
}

TEST_F(Tail, LayersWhoseMemoryNoBudgetCountsAreRefusedWithOne) {
  for (const bool all : {true, false}) {
    SessionOptions options;
    (all ? options.memory_budget : options.weights_budget) = uint64_t{1} << 30;
    EXPECT_VELLUM_ERROR(Session(device, load(rows_model(1)), options), ErrorCode::unsupported,
                        "no budget counts", "cut the model in two");
  }
}

// As in detectors of two stages: boxes that a run chooses, on features of the image.
TEST_F(Tail, RegionsOfFeaturesAreReadOnTheDevice) {
  OnnxModel model;
  model.input("features", {1, 5, 12, 16}).input("boxes", {20, 4}).input("scores", {20});
  model.initializer("least", HostTensor::f32({}, std::vector<float>{0.5f}))
      .initializer("zero", HostTensor::f32({}, std::vector<float>{0.0f}));
  model.initializer("weights", random_tensor({45, 100}, 3))
      .initializer("axis", HostTensor::i64({1}, std::vector<int64_t>{1}));
  model.node("Relu", {"features"}, {"f"}).node("Greater", {"scores", "least"}, {"mask"});
  model.node("Compress", {"boxes", "mask"}, {"rois"}, attributes({{"axis", int64_t{0}}}));
  model.node("ReduceSum", {"rois", "axis"}, {"sums"}, attributes({{"keepdims", int64_t{0}}}));
  model.node("Mul", {"sums", "zero"}, {"zeros"})
      .node("Cast", {"zeros"}, {"batch"}, attributes({{"to", int64_t{7}}}));
  model.node(
      "RoiAlign", {"f", "rois", "batch"}, {"parts"},
      attributes(
          {{"output_height", int64_t{3}}, {"output_width", int64_t{3}}, {"sampling_ratio", int64_t{2}}}));
  model.node("Flatten", {"parts"}, {"flat"}).node("MatMul", {"flat", "weights"}, {"y"}).output("y");
  Session session(device, load(model));
  const Graph graph = model.graph();
  for (const uint32_t seed : {1u, 2u, 3u}) {
    Tensor boxes = random_tensor({20, 4}, seed, 0.0f, 8.0f);
    for (size_t i = 0; i < 20; ++i)
      boxes.mutable_as<float>()[4 * i + 2] += 8, boxes.mutable_as<float>()[4 * i + 3] += 4;
    const std::vector<HostTensor> inputs{random_tensor({1, 5, 12, 16}, seed), boxes,
                                         random_tensor({20}, seed, 0.0f, 1.0f)};
    const Outputs outputs =
        session.run({{"features", inputs[0]}, {"boxes", inputs[1]}, {"scores", inputs[2]}});
    EXPECT_TRUE(close(outputs.at("y"), evaluate(graph, inputs)[0]));
  }
}

// An index that is out of range shows when the tail runs. The session goes on, without the results of before.
TEST_F(Tail, AFailedRunLeavesNothingOfTheRunBefore) {
  OnnxModel model;
  model.input("x", {4})
      .input("index", {1}, DType::i64)
      .node("NonZero", {"x"}, {"places"})
      .node("Gather", {"places", "index"}, {"row"})
      .output("row");
  Session session(device, load(model));
  const Tensor x = Tensor::f32({4}, std::vector<float>{0, 5, 0, 7});
  const auto index = [](int64_t value) { return Tensor::i64({1}, std::vector<int64_t>{value}); };
  EXPECT_EQ(session.run({{"x", x}, {"index", index(0)}}).at("row").to_ints(), (std::vector<int64_t>{1, 3}));
  EXPECT_VELLUM_ERROR(session.run({{"index", index(1)}}), ErrorCode::invalid_argument, "Gather", "index 1");
  EXPECT_VELLUM_ERROR(session.output("row"), ErrorCode::invalid_argument, "'row'", "run");
  EXPECT_EQ(session.outputs().front().shape, (Shape{1, kUnknownDim}));
  EXPECT_EQ(session.run({{"index", index(-1)}}).at("row").to_ints(), (std::vector<int64_t>{1, 3}));
}

}  // namespace
}  // namespace vellum::test
