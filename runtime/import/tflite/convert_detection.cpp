// Converter of the custom operator at the end of TensorFlow's object detectors.
#include "graph/operators/movement/detection_post_process.hpp"
#include "import/tflite/custom_options.hpp"

namespace vellum::tflite {
namespace {

constexpr int64_t kMostDetections = 1 << 20;

float scale_option(const CustomOptions& options, const char* name) {
  const float value = options.number(name);
  if (value == 0.0f) refuse_model("option " + std::string(name) + " is 0");
  return value;
}

std::shared_ptr<DetectionPostProcess> read_detection(const CustomOptions& options) {
  auto op = std::make_shared<DetectionPostProcess>();
  op->max_detections = options.integer("max_detections", 1, kMostDetections);
  op->max_classes_per_detection = options.integer("max_classes_per_detection", 1, kMostDetections);
  if (options.has("detections_per_class"))
    op->detections_per_class = options.integer("detections_per_class", 0, INT32_MAX);
  if (options.has("use_regular_nms")) op->suppress_each_class = options.flag("use_regular_nms");
  if (op->suppress_each_class && op->detections_per_class < 1)
    refuse_model("option detections_per_class is 0");
  op->classes = options.integer("num_classes", 1, kMostDetections);
  op->score_threshold = options.number("nms_score_threshold");
  op->iou_threshold = options.number("nms_iou_threshold");
  if (op->iou_threshold <= 0.0f || op->iou_threshold > 1.0f)
    refuse_model("option nms_iou_threshold is " + std::to_string(op->iou_threshold));
  op->y_scale = scale_option(options, "y_scale");
  op->x_scale = scale_option(options, "x_scale");
  op->height_scale = scale_option(options, "h_scale");
  op->width_scale = scale_option(options, "w_scale");
  return op;
}

}  // namespace

// A threshold, and the order of equal scores, determine which boxes are kept. Unrounded numbers would often
// keep other boxes than an integer runtime.
void convert_detection_post_process(const Call& call) {
  auto op = read_detection(CustomOptions(call));
  std::vector<ValueId> inputs, outputs;
  for (size_t i = 0; i < 3; ++i) inputs.push_back(call.writer.in_file_order(call.input(i)));
  for (size_t i = 0; i < 4; ++i) outputs.push_back(call.writer.define(call.output(i), false));
  call.writer.add_node(std::move(op), std::move(inputs), std::move(outputs));
}

}  // namespace vellum::tflite
