#include "face_detection/detector.hpp"

#include <map>

#include "io/photo.hpp"

namespace vellum::samples {

FaceDetector::FaceDetector(const Device& device, const std::string& model, const RunOptions& options)
    : device_(device),
      options_(options),
      model_(load_model(model)),
      side_(square_input_side(model_, 3, "BlazeFace")) {}

std::vector<Face> FaceDetector::find(const io::Image& photo, const FaceThresholds& thresholds) {
  const std::string& input = model_.inputs()[0].name;
  const FrameInput frame = blazeface_frame(io::photo_frame(photo), side_);
  session_.emplace(open_session(device_, with_frames(model_, input, frame), options_));
  const std::map<std::string, Tensor> outputs = session_->run({{input, io::photo_bytes(photo)}});
  std::vector<Face> faces = merge_overlapping(
      decode_blazeface(find_blazeface_outputs(outputs), side_, thresholds.score), thresholds.overlap);
  for (Face& face : faces) face = in_frame(face, side_, *frame.transform);
  return faces;
}

}  // namespace vellum::samples
