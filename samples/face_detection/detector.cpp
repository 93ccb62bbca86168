#include "face_detection/detector.hpp"

#include <map>

namespace vellum::samples {
namespace {

// The network reads red, green and blue in -1..1.
Tensor network_input(const Letterbox& box) {
  std::vector<float> values = box.rgb;
  for (float& value : values) value = value / 127.5f - 1.0f;
  return Tensor::f32({1, box.side, box.side, 3}, values);
}

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
    : model_(load_model(model)),
      side_(square_input_side(model_, 3, "BlazeFace")),
      session_(open_session(device, model_, options)) {}

std::vector<Face> FaceDetector::find(const Image& photo, const FaceThresholds& thresholds) {
  const Letterbox box = letterbox(photo, side_);
  const std::map<std::string, Tensor> outputs = session_.run({{model_.inputs()[0].name, network_input(box)}});
  std::vector<Face> faces =
      merge_overlapping(decode_blazeface(find_outputs(outputs), side_, thresholds.score), thresholds.overlap);
  for (Face& face : faces) {
    face.top_left = box.to_image(face.top_left);
    face.bottom_right = box.to_image(face.bottom_right);
    for (Point& point : face.keypoints) point = box.to_image(point);
  }
  return faces;
}

}  // namespace vellum::samples
