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

TEST_F(Tail, KeepsLayersOfNetworksOffTheHostAndNamesTheWayOut) {
  OnnxModel model;
  model.input("x", {2, 6})
      .initializer("weights", random_tensor({8, 1, 3}, 1))
      .initializer("axis", HostTensor::i64({1}, std::vector<int64_t>{1}))
      .node("Compress", {"x", "mask"}, {"kept"}, attributes({{"axis", int64_t{1}}}), "choose")
      .input("mask", {6}, DType::boolean)
      .node("Unsqueeze", {"kept", "axis"}, {"image"})
      .node("Conv", {"image", "weights"}, {"y"}, {}, "late")
      .output("y");
  EXPECT_VELLUM_ERROR(Session(device, load(model)), ErrorCode::unsupported, "Conv 'late'",
                      "Compress 'choose'", "cut the model");
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
