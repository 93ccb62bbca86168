// What MediaPipe's BlazeFace networks put out, turned into faces. The numbers are those of MediaPipe's
// published face detection graphs (mediapipe/modules/face_detection, SSD anchors, tensors to detections,
// weighted suppression); the network: Bazarevsky et al. 2019, arXiv 1907.05047.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "common/resize.hpp"

namespace vellum::samples {

// In the order that the network gives them; left and right as the person's own.
enum class Keypoint { right_eye, left_eye, nose_tip, mouth, right_ear, left_ear };

// Coordinates are fractions of the network's square input, 0..1 from the top left corner, and may lie outside
// it.
struct Face {
  float score = 0;  // 0..1
  Point top_left;
  Point bottom_right;
  std::array<Point, 6> keypoints;  // indexed by Keypoint
};

// The network looks at two grids: 16x16 cells with 2 anchors each, then 8x8 cells with 6 anchors each. Scores
// are logits, [anchors]; boxes are [anchors][16]: centre x, y, width, height, then x, y of the six keypoints,
// in pixels of the input, positions relative to the centre of the anchor's cell.
struct BlazeFaceOutputs {
  std::span<const float> fine_scores;    // 512
  std::span<const float> coarse_scores;  // 384
  std::span<const float> fine_boxes;     // 512 * 16
  std::span<const float> coarse_boxes;   // 384 * 16
};

// Every anchor whose score reaches the threshold, many for one face. `side` is the input's side in pixels
// (128 or 256). Throws vellum::Error (invalid_argument) when an output has another number of elements.
std::vector<Face> decode_blazeface(const BlazeFaceOutputs& outputs, int side, float score_threshold);

// Weighted non-maximum suppression: the best face takes in all that overlap it by more than
// `overlap_threshold` (intersection over union); its box and keypoints become their average weighted by
// score; then the same with the rest. Best first.
std::vector<Face> merge_overlapping(std::vector<Face> faces, float overlap_threshold);

}  // namespace vellum::samples
