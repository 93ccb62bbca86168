// Detections of MediaPipe's single-shot networks: a box with key points at each anchor, whose score is a
// logit.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/resize.hpp"
#include "vellum/frame.hpp"

namespace vellum::samples {

// Coordinates are fractions of the network's square input, 0..1 from the top left corner, or pixels of a
// frame after in_frame(). They may be outside.
struct Detection {
  float score = 0;  // 0..1
  Point top_left;
  Point bottom_right;
  std::vector<Point> keypoints;  // in the network's order
};

// Anchors of square cells, row by row, all in the middle of their cell.
struct AnchorGrid {
  int cells;  // along each side
  int anchors_per_cell;

  std::size_t anchors() const;
};

// Returns every anchor whose score reaches the threshold, many for each object. scores: logits, [anchors];
// boxes: [anchors][4 + 2 * keypoints], centre x, y, width, height, then x, y of the key points, in pixels of
// the input, whose side is `side` pixels, and positions relative to the anchor. The sizes must match.
std::vector<Detection> decode_grid(const AnchorGrid& grid, std::span<const float> scores,
                                   std::span<const float> boxes, int side, float score_threshold);

// Weighted non-maximum suppression: the best detection is merged with all that overlap it by more than
// `overlap_threshold` (intersection over union); its box and key points become their average weighted by
// score. This repeats with the rest. Returns the best first. All have the same number of key points.
std::vector<Detection> merge_overlapping(std::vector<Detection> detections, float overlap_threshold);

// Returns the detection in pixels of the frame. `seen`: the part of the frame that the network's square
// input, whose side is `side` pixels, showed.
Detection in_frame(Detection detection, int side, const FrameTransform& seen);

// The logistic function, which converts a logit to a score.
float sigmoid(float logit);

}  // namespace vellum::samples
