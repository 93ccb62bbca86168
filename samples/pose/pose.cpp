#include "pose/pose.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>

#include "io/photo.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

constexpr std::size_t kAnchors = 2254, kValuesPerBox = 12;
// Strides of 8, 16 and three times 32 pixels with two anchors each.
constexpr AnchorGrid kGrids[] = {{28, 2}, {14, 2}, {7, 6}};

constexpr std::size_t kValuesPerLandmark = 5;    // x, y, z, visibility, presence
constexpr std::size_t kLandmarksOfNetwork = 39;  // the body's 33, and six for MediaPipe's tracking

std::span<const float> find(const std::map<std::string, Tensor>& outputs, std::size_t values,
                            const char* network) {
  for (const auto& [name, tensor] : outputs)
    if (tensor.dtype() == DType::f32 && tensor.as<float>().size() == values) return tensor.as<float>();
  throw Error(ErrorCode::invalid_argument, std::string("the model is no ") + network +
                                               ": it has no output of " + std::to_string(values) + " values");
}

}  // namespace

FrameInput pose_detector_frame(FrameInput frame, int side) {
  frame.mean.fill(127.5f);
  frame.scale.fill(1 / 127.5f);
  const auto length = static_cast<double>(side);
  frame.transform = FrameTransform::letterbox(io::size_of(frame), {length, length});
  return frame;
}

std::vector<Detection> decode_pose_detector(const std::map<std::string, Tensor>& outputs, int side,
                                            float score_threshold) {
  std::span<const float> scores = find(outputs, kAnchors, "pose detector"),
                         boxes = find(outputs, kAnchors * kValuesPerBox, "pose detector");
  std::vector<Detection> people;
  for (const AnchorGrid& grid : kGrids) {
    const std::size_t anchors = grid.anchors();
    const std::vector<Detection> found =
        decode_grid(grid, scores.first(anchors), boxes.first(anchors * kValuesPerBox), side, score_threshold);
    people.insert(people.end(), found.begin(), found.end());
    scores = scores.subspan(anchors);
    boxes = boxes.subspan(anchors * kValuesPerBox);
  }
  return merge_overlapping(std::move(people), 0.3f);
}

Region pose_region(const Detection& person) {
  const Point hips = person.keypoints.at(0), edge = person.keypoints.at(1);
  const float x = edge.x - hips.x, y = edge.y - hips.y;
  const float angle = std::numbers::pi_v<float> / 2 + std::atan2(y, x);
  return square_region(hips, 1.25f * 2 * std::hypot(x, y), angle);
}

FrameInput pose_frame(FrameInput frame) {
  frame.scale.fill(1 / 255.0f);
  frame.filter = FrameFilter::bilinear;
  return frame;
}

Pose read_pose(const std::map<std::string, Tensor>& outputs, const Region& region, int side) {
  const std::span<const float> values =
      find(outputs, kLandmarksOfNetwork * kValuesPerLandmark, "pose landmark network");
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
    throw Error(ErrorCode::invalid_argument, "the pose has landmarks that are not finite");
  const auto length = static_cast<float>(side);
  Pose pose;
  pose.presence = find(outputs, 1, "pose landmark network")[0];
  for (std::size_t i = 0; i < pose.landmarks.size(); ++i) {
    const std::span<const float> landmark = values.subspan(kValuesPerLandmark * i, kValuesPerLandmark);
    pose.landmarks[i] = {region.to_image({landmark[0] / length, landmark[1] / length}), sigmoid(landmark[3])};
  }
  return pose;
}

const std::vector<std::pair<int, int>>& pose_connections() {
  static const std::vector<std::pair<int, int>> connections{
      {0, 1},   {1, 2},   {2, 3},   {3, 7},   {0, 4},   {4, 5},   {5, 6},   {6, 8},   {9, 10},
      {11, 12}, {11, 13}, {13, 15}, {15, 17}, {15, 19}, {15, 21}, {17, 19}, {12, 14}, {14, 16},
      {16, 18}, {16, 20}, {16, 22}, {18, 20}, {11, 23}, {12, 24}, {23, 24}, {23, 25}, {24, 26},
      {25, 27}, {26, 28}, {27, 29}, {28, 30}, {29, 31}, {30, 32}, {27, 31}, {28, 32}};
  return connections;
}

}  // namespace vellum::samples
