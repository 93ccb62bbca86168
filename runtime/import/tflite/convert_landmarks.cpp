// MediaPipe's custom operators for attention to a region of landmarks.
#include "graph/operators/movement/landmarks.hpp"
#include "import/tflite/custom_options.hpp"

namespace vellum::tflite {
namespace {

constexpr int64_t kLargestCrop = 1 << 14;

void require_version_2(const Call& call) {
  if (call.version != 2 && call.version != kUnknownVersion) {
    refuse_unsupported("version " + std::to_string(call.version) + " of it; Vellum knows version 2");
  }
}

float positive_scale(const CustomOptions& options, const char* name) {
  const float value = options.number(name);
  if (value <= 0.0f) refuse_model("option " + std::string(name) + " is " + std::to_string(value));
  return value;
}

}  // namespace

void convert_landmarks_to_matrix(const Call& call) {
  require_version_2(call);
  const CustomOptions options(call);
  auto op = std::make_shared<LandmarksToMatrix>();
  op->left = options.integer("left_rotation_idx");
  op->right = options.integer("right_rotation_idx");
  op->subset = options.integers("subset_idxs");
  op->width = options.integer("output_width", 1, kLargestCrop);
  op->height = options.integer("output_height", 1, kLargestCrop);
  op->scale_x = positive_scale(options, "scale_x");
  op->scale_y = positive_scale(options, "scale_y");
  op->target_rotation = options.number("target_rotation_radians");
  call.emit(std::move(op), {call.writer.in_file_order(call.input(0))}, false);
}

void convert_transform_tensor(const Call& call) {
  require_version_2(call);
  const CustomOptions options(call);
  auto op = std::make_shared<TransformTensorBilinear>();
  op->width = options.integer("output_width", 1, kLargestCrop);
  op->height = options.integer("output_height", 1, kLargestCrop);
  call.emit(std::move(op), {call.writer.as_image(call.input(0)), call.writer.in_file_order(call.input(1))},
            true);
}

void convert_transform_landmarks(const Call& call) {
  require_version_2(call);
  // Version 2 has no options: the last dimension is the number of coordinates of a landmark.
  call.emit(std::make_shared<TransformLandmarks>(),
            {call.writer.in_file_order(call.input(0)), call.writer.in_file_order(call.input(1))}, false);
}

}  // namespace vellum::tflite
