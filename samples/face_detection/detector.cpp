#include "face_detection/detector.hpp"

#include <map>

#include "common/photo.hpp"

namespace vellum::samples {
namespace {

const Tensor* find_output(const std::map<std::string, Tensor>& outputs, const Shape& shape) {
  for (const auto& [name, tensor] : outputs)
    if (tensor.shape() == shape) return &tensor;
  return nullptr;
}

// Outputs are identified by their shapes, [1, anchors, 1 or 16], not by names that a converter chose. The
// ONNX files have the two grids separately, TFLite files have them concatenated.
BlazeFaceOutputs find_outputs(const std::map<std::string, Tensor>& outputs) {
  const auto find = [&](int64_t anchors, int64_t values) {
    const Shape shape{1, anchors, values};
    if (const Tensor* tensor = find_output(outputs, shape)) return tensor->as<float>();
    throw Error(ErrorCode::invalid_argument,
                "the model is no BlazeFace: it has no output of shape " + to_string(shape));
  };
  if (!find_output(outputs, {1, 896, 1})) return {find(512, 1), find(384, 1), find(512, 16), find(384, 16)};
  const std::span<const float> scores = find(896, 1), boxes = find(896, 16);
  return {scores.first(512), scores.subspan(512), boxes.first(512 * 16), boxes.subspan(512 * 16)};
}

}  // namespace

FaceDetector::FaceDetector(const Device& device, const std::string& model, const RunOptions& options)
    : device_(device),
      options_(options),
      model_(load_model(model)),
      side_(square_input_side(model_, 3, "BlazeFace")) {}

std::vector<Face> FaceDetector::find(const Image& photo, const FaceThresholds& thresholds) {
  const std::string& input = model_.inputs()[0].name;
  const FrameInput frame = blazeface_frame(photo, side_);
  session_.emplace(open_session(device_, with_frames(model_, input, frame), options_));
  const std::map<std::string, Tensor> outputs = session_->run({{input, photo_bytes(photo)}});
  std::vector<Face> faces =
      merge_overlapping(decode_blazeface(find_outputs(outputs), side_, thresholds.score), thresholds.overlap);
  const auto to_photo = [&](Point& point) {
    const auto side = static_cast<float>(side_);
    point = to_point(frame.transform->to_frame({side * point.x, side * point.y}));
  };
  for (Face& face : faces) {
    to_photo(face.top_left);
    to_photo(face.bottom_right);
    for (Point& point : face.keypoints) to_photo(point);
  }
  return faces;
}

}  // namespace vellum::samples
