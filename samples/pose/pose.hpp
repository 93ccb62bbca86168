// Input and output of MediaPipe's pose networks (BlazePose: Bazarevsky et al. 2020, arXiv 2006.10204): a
// detector that finds people, and a network that finds 33 landmarks of one of them. The constants are those
// of MediaPipe's published graphs (mediapipe/modules/pose_detection and pose_landmark: SSD anchors, alignment
// points to region, tensors to landmarks).
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/detection.hpp"
#include "common/region.hpp"
#include "vellum/frame.hpp"
#include "vellum/tensor.hpp"

namespace vellum::samples {

// Returns how the detector reads frames of this format and size: red, green and blue in -1..1, letterboxed to
// its square of `side` pixels.
FrameInput pose_detector_frame(FrameInput frame, int side);

// Returns the people whose score reaches the threshold, the best first, with four key points: the middle of
// the hips, a point at the edge of the circle around the whole body, the middle of the shoulders, and a point
// at the edge of the circle around the upper body. Outputs are [1, 2254, 1] and [1, 2254, 12]. Throws
// vellum::Error (invalid_argument) for other outputs.
std::vector<Detection> decode_pose_detector(const std::map<std::string, Tensor>& outputs, int side,
                                            float score_threshold);

// Returns the square that the landmark network reads: around the middle of the hips, 1.25 times as large as
// the circle around the body, and rotated so that the body is upright. `person` is in pixels of the frame.
Region pose_region(const Detection& person);

// Returns how the landmark network reads a region (region_transform()) of frames of this format and size:
// values in 0..1, black beyond the frame.
FrameInput pose_frame(FrameInput frame);

// A landmark in pixels of the frame.
struct Landmark {
  Point point;
  float visibility = 0;  // 0..1: that it is in the frame and not hidden
};

struct Pose {
  float presence = 0;                  // 0..1: that the region shows a person
  std::array<Landmark, 33> landmarks;  // in MediaPipe's order: 0 the nose, 11 and 12 the shoulders, ...
};

// Reads the outputs of the landmark network for a region of a frame. `side`: size of its input in pixels.
// Outputs are identified by their number of values, not by names that a converter chose. Throws vellum::Error
// (invalid_argument) if there are no landmarks, or some are not finite.
Pose read_pose(const std::map<std::string, Tensor>& outputs, const Region& region, int side);

// The pairs of landmarks that lines connect in a drawing.
const std::vector<std::pair<int, int>>& pose_connections();

}  // namespace vellum::samples
