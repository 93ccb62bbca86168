#include "common/detection.hpp"

#include <algorithm>
#include <cmath>

#include "common/box.hpp"
#include "common/region.hpp"
#include "io/photo.hpp"

namespace vellum::samples {
namespace {

Detection decode_box(std::span<const float> box, Point anchor, float side, float score) {
  const auto position = [&](std::size_t at) {
    return Point{anchor.x + box[at] / side, anchor.y + box[at + 1] / side};
  };
  const Point center = position(0);
  const float half_width = box[2] / side / 2;
  const float half_height = box[3] / side / 2;
  Detection found{.score = score,
                  .top_left = {center.x - half_width, center.y - half_height},
                  .bottom_right = {center.x + half_width, center.y + half_height},
                  .keypoints = {}};
  for (std::size_t at = 4; at + 1 < box.size(); at += 2) found.keypoints.push_back(position(at));
  return found;
}

// The average of the detections weighted by their scores, with the score of the first.
Detection weighted_average(std::span<const Detection> detections) {
  float total = 0;
  for (const Detection& detection : detections) total += detection.score;
  Detection average{.score = detections.front().score,
                    .top_left = {},
                    .bottom_right = {},
                    .keypoints = std::vector<Point>(detections.front().keypoints.size())};
  const auto add = [](Point& sum, Point value, float weight) {
    sum.x += weight * value.x;
    sum.y += weight * value.y;
  };
  for (const Detection& detection : detections) {
    const float weight = detection.score / total;
    add(average.top_left, detection.top_left, weight);
    add(average.bottom_right, detection.bottom_right, weight);
    for (std::size_t i = 0; i < average.keypoints.size(); ++i)
      add(average.keypoints[i], detection.keypoints[i], weight);
  }
  return average;
}

}  // namespace

std::size_t AnchorGrid::anchors() const {
  return static_cast<std::size_t>(cells) * static_cast<std::size_t>(cells) *
         static_cast<std::size_t>(anchors_per_cell);
}

std::vector<Detection> decode_grid(const AnchorGrid& grid, std::span<const float> scores,
                                   std::span<const float> boxes, int side, float score_threshold) {
  std::vector<Detection> detections;
  const std::size_t values = boxes.size() / grid.anchors();
  for (std::size_t i = 0; i < grid.anchors(); ++i) {
    const float score = sigmoid(scores[i]);
    const std::span<const float> box = boxes.subspan(i * values, values);
    const bool usable = std::all_of(box.begin(), box.end(), [](float value) { return std::isfinite(value); });
    if (!(score >= score_threshold) || !usable) continue;  // written so that a NaN score is left out
    const int cell = static_cast<int>(i) / grid.anchors_per_cell;
    const auto cells = static_cast<float>(grid.cells);
    const Point anchor{(static_cast<float>(cell % grid.cells) + 0.5f) / cells,
                       (static_cast<float>(cell / grid.cells) + 0.5f) / cells};
    detections.push_back(decode_box(box, anchor, static_cast<float>(side), score));
  }
  return detections;
}

std::vector<Detection> merge_overlapping(std::vector<Detection> detections, float overlap_threshold) {
  std::stable_sort(detections.begin(), detections.end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
  std::vector<Detection> merged;
  while (!detections.empty()) {
    const Detection best = detections.front();
    // A box without area overlaps nothing, not even itself; it must leave the list all the same.
    const auto others =
        std::stable_partition(detections.begin() + 1, detections.end(), [&](const Detection& other) {
          return overlap({best.top_left, best.bottom_right}, {other.top_left, other.bottom_right}) >
                 overlap_threshold;
        });
    merged.push_back(weighted_average({detections.begin(), others}));
    detections.erase(detections.begin(), others);
  }
  return merged;
}

Detection in_frame(Detection detection, int side, const FrameTransform& seen) {
  const auto to_pixels = [&](Point& point) {
    const auto length = static_cast<double>(side);
    point = to_point(seen.to_frame({length * point.x, length * point.y}));
  };
  to_pixels(detection.top_left);
  to_pixels(detection.bottom_right);
  for (Point& point : detection.keypoints) to_pixels(point);
  return detection;
}

float sigmoid(float logit) { return 1.0f / (1.0f + std::exp(-logit)); }

}  // namespace vellum::samples
