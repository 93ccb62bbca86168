#include "face_mesh/mesh.hpp"

#include <algorithm>
#include <cmath>

#include "io/photo.hpp"
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

FrameInput mesh_frame(FrameInput frame) {
  frame.scale.fill(1 / 255.0f);
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

float face_presence(float logit) { return sigmoid(logit); }

Mesh read_mesh(const std::map<std::string, Tensor>& outputs, const Region& region, int side) {
  Mesh mesh;
  const auto add = [&](std::vector<Point>& to, std::span<const float> values, std::size_t coordinates) {
    const std::vector<Point> points = mesh_points(values, coordinates, region, side);
    to.insert(to.end(), points.begin(), points.end());
  };
  for (const auto& [name, tensor] : outputs) {
    const std::span<const float> values = tensor.as<float>();
    switch (values.size()) {
      case 1:
        mesh.presence = face_presence(values[0]);
        break;
      case 3 * 468:
        add(mesh.points, values, 3);
        break;
      case 2 * 80:
        add(mesh.lips, values, 2);
        break;
      case 2 * 71:
        add(mesh.eyes, values, 2);
        break;
      case 2 * 5:
        add(mesh.irises, values, 2);
        break;
      default:
        break;
    }
  }
  if (mesh.points.size() != 468)
    throw Error(ErrorCode::invalid_argument, "the model is no face mesh: it does not put out 468 points");
  return mesh;
}

}  // namespace vellum::samples
