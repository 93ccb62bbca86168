// Finds lines of text: decodes PP-OCR's detection map to boxes. The map has the probability that a pixel
// belongs to the shrunken core of a line (Liao et al. 2020, "Real-time scene text detection with
// differentiable binarization", arXiv 1911.08947, section 3.4): cores are found, boxed, and grown back.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "common/resize.hpp"
#include "vellum/frame.hpp"

namespace vellum::samples {

// Returns how PP-OCR's detector reads frames of this format and size: stretched to network_shape, whose
// longer side has about `side` pixels, but at most the frame's; blue, green, red, normalised by ImageNet's
// mean and deviation.
FrameInput text_frame(FrameInput frame, int side);

// A line of text, possibly rotated. Corners are top left, top right, bottom right and bottom left in the
// direction of reading, in pixels of the map.
struct TextLine {
  float score = 0;  // mean probability of the core, 0..1
  std::array<Point, 4> corners;

  float width() const;   // along the text
  float height() const;  // across it
};

struct TextThresholds {
  float pixel = 0.3f;  // least probability of a core's pixel
  float line = 0.6f;   // least score of a line
  float grow = 1.6f;   // a core grows by grow * area / perimeter, as in PP-OCR's configuration
};

// Returns lines in reading order, from top to bottom and from left to right. probabilities: [height][width],
// 0..1. Throws vellum::Error (invalid_argument) if the map has another size.
std::vector<TextLine> find_text_lines(std::span<const float> probabilities, int width, int height,
                                      const TextThresholds& thresholds);

}  // namespace vellum::samples
