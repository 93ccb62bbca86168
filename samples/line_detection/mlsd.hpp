// Decodes the outputs of M-LSD to line segments: Gu et al. 2021, "Towards light-weight and real-time line
// segment detection", arXiv 2106.00186, section 3.1 (tri-points: a line is its centre and the displacements
// of its two ends).
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/resize.hpp"
#include "vellum/frame.hpp"

namespace vellum::samples {

// A line segment. Its ends are fractions of the image, 0..1 from the top left corner.
struct Line {
  float score = 0;  // 0..1
  Point start;
  Point end;
};

// Returns how the network reads frames of this format and size: red, green and blue in 0..255, stretched to
// its square of `side` pixels, and a fourth channel of ones, as in its training
// (https://github.com/navervision/mlsd, utils.py).
FrameInput mlsd_frame(FrameInput frame, int side);

struct MlsdOutputs {
  std::span<const float> scores, displacements;
  int side = 0;
};

// Identifies the outputs by their channels, not by names that a converter chose. Throws vellum::Error
// (invalid_argument) if one is missing. The spans point into the tensors.
MlsdOutputs find_mlsd_outputs(const std::map<std::string, Tensor>& outputs);

struct MlsdThresholds {
  float score = 0.2f;
  float length = 0.06f;     // minimum length, as a fraction of the image's side
  std::size_t lines = 200;  // maximum number of lines
  // A line that is this close to a better one is dropped: distance as a fraction of the image's side.
  float beside = 0.015f;
};

// Returns the lines, the best first. scores: [side][side], 0..1, zero wherever a neighbour is the better
// centre; displacements: [side][side][4], from the centre to the start (x, y) and to the end (x, y), in
// cells. Throws vellum::Error (invalid_argument) if their sizes do not match.
std::vector<Line> decode_mlsd(std::span<const float> scores, std::span<const float> displacements, int side,
                              const MlsdThresholds& thresholds);

}  // namespace vellum::samples
