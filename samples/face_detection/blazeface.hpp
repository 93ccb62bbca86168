// Decodes the outputs of MediaPipe's BlazeFace networks (Bazarevsky et al. 2019, arXiv 1907.05047) to faces.
// The constants are those of MediaPipe's published face detection graphs (mediapipe/modules/face_detection:
// SSD anchors, tensors to detections, weighted suppression).
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/detection.hpp"
#include "vellum/frame.hpp"
#include "vellum/tensor.hpp"

namespace vellum::samples {

// The key points in the network's order; left and right are the person's own.
enum class Keypoint { right_eye, left_eye, nose_tip, mouth, right_ear, left_ear };

// A detection with six key points, indexed by Keypoint.
using Face = Detection;

// Returns how the network reads frames of this format and size: red, green and blue in -1..1, letterboxed to
// its square of `side` pixels. The frame's transform maps between the two.
FrameInput blazeface_frame(FrameInput frame, int side);

// The network has two grids: 16x16 cells with 2 anchors each, and 8x8 cells with 6 anchors each. Scores
// are logits, [anchors]; boxes are [anchors][16]: centre x, y, width, height, then x, y of the six keypoints,
// in pixels of the input, positions relative to the centre of the anchor's cell.
struct BlazeFaceOutputs {
  std::span<const float> fine_scores;    // 512
  std::span<const float> coarse_scores;  // 384
  std::span<const float> fine_boxes;     // 512 * 16
  std::span<const float> coarse_boxes;   // 384 * 16
};

// Finds these outputs by their shapes, [1, anchors, 1 or 16], not by names that a converter chose. The ONNX
// files have the two grids separately, TFLite files have them concatenated. Throws vellum::Error
// (invalid_argument) if one is missing. The spans point into the tensors.
BlazeFaceOutputs find_blazeface_outputs(const std::map<std::string, Tensor>& outputs);

// Returns every anchor whose score reaches the threshold, many for each face (merge_overlapping() joins
// them). `side` is the input's side in pixels (128 or 256). Throws vellum::Error (invalid_argument) if an
// output has another number of elements.
std::vector<Face> decode_blazeface(const BlazeFaceOutputs& outputs, int side, float score_threshold);

}  // namespace vellum::samples
