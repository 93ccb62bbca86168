#include "face_detection/blazeface.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "common/box.hpp"
#include "common/photo.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

constexpr std::size_t values_per_box = 16;

struct Grid {
  int cells;  // along each side
  int anchors_per_cell;

  std::size_t anchors() const { return static_cast<std::size_t>(cells) * cells * anchors_per_cell; }
};

constexpr Grid fine_grid{16, 2};
constexpr Grid coarse_grid{8, 6};

void require_size(const char* name, std::span<const float> values, std::size_t expected) {
  if (values.size() != expected) {
    throw Error(ErrorCode::invalid_argument, std::string("BlazeFace's ") + name + " have " +
                                                 std::to_string(values.size()) + " values instead of " +
                                                 std::to_string(expected) + "; is this another model?");
  }
}

float sigmoid(float logit) { return 1.0f / (1.0f + std::exp(-logit)); }

Face decode_box(std::span<const float> box, Point anchor, float side, float score) {
  const auto position = [&](std::size_t at) {
    return Point{anchor.x + box[at] / side, anchor.y + box[at + 1] / side};
  };
  const Point center = position(0);
  const float half_width = box[2] / side / 2;
  const float half_height = box[3] / side / 2;
  Face face;
  face.score = score;
  face.top_left = {center.x - half_width, center.y - half_height};
  face.bottom_right = {center.x + half_width, center.y + half_height};
  for (std::size_t i = 0; i < face.keypoints.size(); ++i) face.keypoints[i] = position(4 + 2 * i);
  return face;
}

void decode_grid(const Grid& grid, std::span<const float> scores, std::span<const float> boxes, int side,
                 float score_threshold, std::vector<Face>& faces) {
  for (std::size_t i = 0; i < grid.anchors(); ++i) {
    const float score = sigmoid(scores[i]);
    const std::span<const float> box = boxes.subspan(i * values_per_box, values_per_box);
    const bool usable = std::all_of(box.begin(), box.end(), [](float value) { return std::isfinite(value); });
    if (!(score >= score_threshold) || !usable) continue;  // written so that a NaN score is left out
    const int cell = static_cast<int>(i) / grid.anchors_per_cell;
    const auto cells = static_cast<float>(grid.cells);
    const Point anchor{(static_cast<float>(cell % grid.cells) + 0.5f) / cells,
                       (static_cast<float>(cell / grid.cells) + 0.5f) / cells};
    faces.push_back(decode_box(box, anchor, static_cast<float>(side), score));
  }
}

// The average of the faces weighted by their scores, with the score of the first.
Face weighted_average(std::span<const Face> faces) {
  float total = 0;
  for (const Face& face : faces) total += face.score;
  Face average;
  average.score = faces.front().score;
  const auto add = [](Point& sum, Point value, float weight) {
    sum.x += weight * value.x;
    sum.y += weight * value.y;
  };
  for (const Face& face : faces) {
    const float weight = face.score / total;
    add(average.top_left, face.top_left, weight);
    add(average.bottom_right, face.bottom_right, weight);
    for (std::size_t i = 0; i < face.keypoints.size(); ++i)
      add(average.keypoints[i], face.keypoints[i], weight);
  }
  return average;
}

const Tensor* find_output(const std::map<std::string, Tensor>& outputs, const Shape& shape) {
  for (const auto& [name, tensor] : outputs)
    if (tensor.shape() == shape) return &tensor;
  return nullptr;
}

}  // namespace

FrameInput blazeface_frame(FrameInput frame, int side) {
  frame.mean.fill(127.5f);
  frame.scale.fill(1 / 127.5f);
  const auto length = static_cast<double>(side);
  frame.transform = FrameTransform::letterbox(size_of(frame), {length, length});
  return frame;
}

BlazeFaceOutputs find_blazeface_outputs(const std::map<std::string, Tensor>& outputs) {
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

std::vector<Face> decode_blazeface(const BlazeFaceOutputs& outputs, int side, float score_threshold) {
  require_size("fine scores", outputs.fine_scores, fine_grid.anchors());
  require_size("coarse scores", outputs.coarse_scores, coarse_grid.anchors());
  require_size("fine boxes", outputs.fine_boxes, fine_grid.anchors() * values_per_box);
  require_size("coarse boxes", outputs.coarse_boxes, coarse_grid.anchors() * values_per_box);
  std::vector<Face> faces;
  decode_grid(fine_grid, outputs.fine_scores, outputs.fine_boxes, side, score_threshold, faces);
  decode_grid(coarse_grid, outputs.coarse_scores, outputs.coarse_boxes, side, score_threshold, faces);
  return faces;
}

std::vector<Face> merge_overlapping(std::vector<Face> faces, float overlap_threshold) {
  std::stable_sort(faces.begin(), faces.end(),
                   [](const Face& a, const Face& b) { return a.score > b.score; });
  std::vector<Face> merged;
  while (!faces.empty()) {
    const Face best = faces.front();
    // A box without area overlaps nothing, not even itself; it must leave the list all the same.
    const auto others = std::stable_partition(faces.begin() + 1, faces.end(), [&](const Face& face) {
      return overlap({best.top_left, best.bottom_right}, {face.top_left, face.bottom_right}) >
             overlap_threshold;
    });
    merged.push_back(weighted_average({faces.begin(), others}));
    faces.erase(faces.begin(), others);
  }
  return merged;
}

}  // namespace vellum::samples
