#include "face_mesh/mesh.hpp"

#include <algorithm>
#include <cmath>

#include "common/photo.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {

Region mesh_region(const Face& face) {
  const Point right_eye = face.keypoints[static_cast<std::size_t>(Keypoint::right_eye)];
  const Point left_eye = face.keypoints[static_cast<std::size_t>(Keypoint::left_eye)];
  const float angle = std::atan2(left_eye.y - right_eye.y, left_eye.x - right_eye.x);
  const float width = face.bottom_right.x - face.top_left.x, height = face.bottom_right.y - face.top_left.y;
  const Point center{face.top_left.x + width / 2, face.top_left.y + height / 2};
  return square_region(center, 1.5f * std::max(width, height), angle);
}

FrameInput mesh_frame(const Image& photo) {
  FrameInput frame = photo_frame(photo, 0, 1 / 255.0f);
  frame.filter = FrameFilter::bilinear;
  frame.fill.reset();
  return frame;
}

std::vector<Point> mesh_points(std::span<const float> values, std::size_t coordinates, const Region& region,
                               int side) {
  if (coordinates < 2 || values.empty() || values.size() % coordinates != 0 ||
      !std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) {
    throw Error(ErrorCode::invalid_argument, "the face mesh has values that are no points of " +
                                                 std::to_string(coordinates) + " finite coordinates");
  }
  std::vector<Point> points;
  const auto length = static_cast<float>(side);
  for (std::size_t i = 0; i < values.size(); i += coordinates)
    points.push_back(region.to_image({values[i] / length, values[i + 1] / length}));
  return points;
}

float face_presence(float logit) { return 1 / (1 + std::exp(-logit)); }

}  // namespace vellum::samples
