// TFLite_Detection_PostProcess. tests/oracles/litert_operators.py prints these values, which LiteRT's
// reference kernel computes.
#include <flatbuffers/flexbuffers.h>
#include <gtest/gtest.h>

#include <limits>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

struct DetectionOptions {
  bool regular = false;
  int64_t most = 4, classes_each = 1, per_class = 2, classes = 2;
  float score_threshold = 0.4f, iou_threshold = 0.5f, y_scale = 10.0f;

  std::vector<uint8_t> bytes() const {
    flexbuffers::Builder b;
    b.Map([&] {
      b.Int("max_detections", most);
      b.Int("max_classes_per_detection", classes_each);
      b.Int("detections_per_class", per_class);
      b.Bool("use_regular_nms", regular);
      b.Float("nms_score_threshold", score_threshold);
      b.Float("nms_iou_threshold", iou_threshold);
      b.Int("num_classes", classes);
      b.Float("y_scale", y_scale);
      b.Float("x_scale", 10.0f);
      b.Float("h_scale", 5.0f);
      b.Float("w_scale", 5.0f);
    });
    b.Finish();
    return b.GetBuffer();
  }
};

const std::vector<float> kAnchors{0.25f, 0.25f, 0.5f,  0.5f, 0.25f, 0.25f, 0.5f, 0.5f,  0.75f, 0.5f,
                                  0.25f, 0.5f,  0.75f, 0.5f, 0.25f, 0.5f,  0.5f, 0.75f, 0.25f, 0.25f};
const std::vector<float> kBoxes{0.5f, 0.5f, 0,    0,     9,    1,    0, 0.5f, -0.5f, 9, 0, 0, 1,
                                1,    9,    0.2f, -0.1f, 1.2f, 0.9f, 9, -3,   2,     0, 2, 9};

std::string detection_model(const DetectionOptions& options, int32_t columns) {
  TfliteModel m;
  const auto boxes = m.tensor("boxes", {1, 5, 5}), scores = m.tensor("scores", {1, 5, columns}),
             anchors = m.floats("anchors", {5, 4}, kAnchors);
  std::vector<int32_t> outputs;
  for (const char* name : {"places", "labels", "certainty", "count"}) outputs.push_back(m.tensor(name, {}));
  m.op(32, {boxes, scores, anchors}, outputs, tfl::BuiltinOptions::NONE, 0, "TFLite_Detection_PostProcess",
       options.bytes());
  return m.finish({boxes, scores}, outputs);
}

// The first column is the background's.
std::vector<float> scores_of(bool with_background) {
  if (!with_background) return {0.875f, 0.5f, 0.25f, 0.75f, 0.5f, 0.625f, 0.625f, 0.375f, 0.5f, 0.5f};
  return {0, 0.875f, 0.5f, 0.9f, 0.25f, 0.75f, 0.1f, 0.5f, 0.625f, 0, 0.625f, 0.375f, 0.2f, 0.5f, 0.5f};
}

std::vector<HostTensor> detect(const DetectionOptions& options, bool with_background) {
  const int32_t columns = with_background ? 3 : 2;
  const HostTensor inputs[] = {HostTensor::f32({1, 5, 5}, kBoxes),
                               HostTensor::f32({1, 5, columns}, scores_of(with_background))};
  return evaluate(optimise(import_model(as_bytes(detection_model(options, columns))), {}), inputs);
}

using Rows = std::vector<std::vector<float>>;
const std::vector<float> kNothing{0, 0, 0, 0}, kBox0{0.025000006f, 0.025000006f, 0.524999976f, 0.524999976f},
    kBox1{0.0237072706f, 0.0237906426f, 0.576292753f, 0.476209342f},
    kBox3{0.596093833f, 0.195695668f, 0.913906157f, 0.794304371f},
    kBox2{0.597324669f, 0.194649309f, 0.902675331f, 0.805350661f},
    kBox4{0.300000012f, 0.613521934f, 0.550000012f, 0.98647809f};

void expect_detections(const std::vector<HostTensor>& results, const Rows& boxes,
                       const std::vector<float>& classes, const std::vector<float>& scores, float count) {
  const auto rows = static_cast<int64_t>(boxes.size());
  std::vector<float> corners;
  for (const auto& box : boxes) corners.insert(corners.end(), box.begin(), box.end());
  EXPECT_TRUE(close(results[0], HostTensor::f32({1, rows, 4}, corners), 0.0));
  EXPECT_TRUE(close(results[1], HostTensor::f32({1, rows}, classes), 0.0));
  EXPECT_TRUE(close(results[2], HostTensor::f32({1, rows}, scores), 0.0));
  EXPECT_TRUE(close(results[3], HostTensor::f32({1}, std::array{count}), 0.0));
}

TEST(TfliteDetection, BoxesAreSuppressedByTheirBestClass) {
  expect_detections(detect({}, true), {kBox0, kBox2, kBox4, kNothing}, {0, 1, 0, 0},
                    {0.875f, 0.625f, 0.5f, 0}, 3);
}

TEST(TfliteDetection, EachBoxHasSeveralClasses) {
  const DetectionOptions two{.most = 2, .classes_each = 2};
  expect_detections(detect(two, true), {kBox0, kBox0, kBox2, kBox2}, {0, 1, 1, 0},
                    {0.875f, 0.5f, 0.625f, 0.5f}, 2);
  // The rows of a third class, which there is not, stay empty.
  const DetectionOptions three{.most = 3, .classes_each = 3};
  expect_detections(detect(three, false),
                    {kBox0, kBox0, kNothing, kBox2, kBox2, kNothing, kBox4, kBox4, kNothing},
                    {0, 1, 0, 1, 0, 0, 0, 1, 0}, {0.875f, 0.5f, 0, 0.625f, 0.5f, 0, 0.5f, 0.5f, 0}, 3);
}

TEST(TfliteDetection, BoxesOfEachClassAreSuppressed) {
  const DetectionOptions five{.regular = true, .most = 5};
  expect_detections(detect(five, true), {kBox0, kBox1, kBox3, kBox2, kNothing}, {0, 1, 0, 1, 0},
                    {0.875f, 0.75f, 0.625f, 0.625f, 0}, 4);
  const DetectionOptions three{.regular = true, .most = 3};
  expect_detections(detect(three, false), {kBox0, kBox1, kBox3}, {0, 1, 0}, {0.875f, 0.75f, 0.625f}, 3);
}

// Scores in steps of 0.5: all of 0.75 and of 0.625 round to 0.5 or 1, so that the first of equal ones wins.
TEST(TfliteDetection, QuantisedScoresAreComparedAsIntegers) {
  TfliteModel m;
  const auto boxes = m.tensor("boxes", {1, 2, 4}), given = m.tensor("given", {1, 2, 1});
  m.quantise_next({0.5f}, {0});
  const auto scores = m.tensor("scores", {1, 2, 1}, tfl::TensorType::uint8);
  const auto anchors = m.floats("anchors", {2, 4}, {0, 0, 2, 2, 8, 8, 2, 2});
  std::vector<int32_t> outputs;
  for (const char* name : {"places", "labels", "certainty", "count"}) outputs.push_back(m.tensor(name, {}));
  m.op(114, {given}, {scores});
  m.op(32, {boxes, scores, anchors}, outputs, tfl::BuiltinOptions::NONE, 0, "TFLite_Detection_PostProcess",
       DetectionOptions{.most = 1, .classes = 1}.bytes());
  const HostTensor inputs[] = {HostTensor(DType::f32, {1, 2, 4}),
                               HostTensor::f32({1, 2, 1}, std::array{0.5f, 0.625f})};
  const auto results =
      evaluate(optimise(import_model(as_bytes(m.finish({boxes, given}, outputs))), {}), inputs);
  expect_detections(results, {{-1, -1, 1, 1}}, {0}, {0.5f}, 1);
}

TEST(TfliteDetection, NoNumberIsNoDetection) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const HostTensor inputs[] = {HostTensor::f32({1, 5, 5}, std::vector<float>(25, nan)),
                               HostTensor::f32({1, 5, 2}, std::vector<float>(10, nan))};
  for (const bool regular : {false, true}) {
    const DetectionOptions options{.regular = regular, .most = 2};
    const auto results = evaluate(optimise(import_model(as_bytes(detection_model(options, 2))), {}), inputs);
    expect_detections(results, {kNothing, kNothing}, {0, 0}, {0, 0}, 0);
  }
}

TEST(TfliteDetection, OptionsAndShapesAreChecked) {
  const auto refused = [](const DetectionOptions& options, const char* what, int32_t columns = 3) {
    EXPECT_VELLUM_ERROR(optimise(import_model(as_bytes(detection_model(options, columns))), {}),
                        ErrorCode::corrupt_model, "TFLite_Detection_PostProcess", what);
  };
  refused({.most = -1}, "max_detections is -1");
  refused({.most = int64_t{1} << 40}, "max_detections is 1099511627776");
  refused({.classes_each = 0}, "max_classes_per_detection is 0");
  refused({.regular = true, .per_class = 0}, "detections_per_class is 0");
  refused({.classes = 0}, "num_classes is 0");
  refused({.iou_threshold = 0.0f}, "nms_iou_threshold is 0");
  refused({.score_threshold = std::numeric_limits<float>::infinity()}, "nms_score_threshold");
  refused({.y_scale = 0.0f}, "y_scale is 0");
  refused({}, "for 2 classes", 4);
}

}  // namespace
}  // namespace vellum::test
