#include "face_detection/detector.hpp"

#include <map>

#include "common/photo.hpp"

namespace vellum::samples {

FaceDetector::FaceDetector(const Device& device, const std::string& model, const RunOptions& options)
    : device_(device),
      options_(options),
      model_(load_model(model)),
      side_(square_input_side(model_, 3, "BlazeFace")) {}

std::vector<Face> FaceDetector::find(const Image& photo, const FaceThresholds& thresholds) {
  const std::string& input = model_.inputs()[0].name;
  const FrameInput frame = blazeface_frame(photo_frame(photo), side_);
  session_.emplace(open_session(device_, with_frames(model_, input, frame), options_));
  const std::map<std::string, Tensor> outputs = session_->run({{input, photo_bytes(photo)}});
  std::vector<Face> faces = merge_overlapping(
      decode_blazeface(find_blazeface_outputs(outputs), side_, thresholds.score), thresholds.overlap);
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
