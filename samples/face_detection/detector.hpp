// Runs BlazeFace on a device: finds the faces in a photo.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/sample.hpp"
#include "face_detection/blazeface.hpp"

namespace vellum::samples {

struct FaceThresholds {
  float score = 0.5f;    // minimum score of a face
  float overlap = 0.3f;  // minimum overlap of two boxes of one face
};

class FaceDetector {
 public:
  // `model`: BlazeFace as ONNX, front (128x128) or back (256x256), or MediaPipe's short range model as
  // TFLite.
  FaceDetector(const Device& device, const std::string& model, const RunOptions& options);

  // Returns the faces in pixels of the photo, the best first.
  std::vector<Face> find(const io::Image& photo, const FaceThresholds& thresholds);
  // The session of the last photo.
  const Session& session() const { return *session_; }

 private:
  Device device_;
  RunOptions options_;
  Model model_;
  int side_;
  std::optional<Session> session_;  // for photos of one size
};

}  // namespace vellum::samples
