// What an SSD network puts out, turned into labelled boxes: Liu et al. 2016, "SSD: single shot multibox
// detector", arXiv 1512.02325, section 2.2 (default boxes) with the numbers of MediaPipe's object detection
// graph (SsdAnchorsCalculator, TensorsToDetectionsCalculator, NonMaxSuppressionCalculator) and the box coding
// of TensorFlow's object detection (Ren et al. 2015, arXiv 1506.01497, equation 2, scaled by 10 and 5).
#pragma once

#include <span>
#include <vector>

#include "common/box.hpp"

namespace vellum::samples {

// In fractions of the input, 0..1.
struct Anchor {
  Point center;
  float width = 0;
  float height = 0;
};

// Those of SSD-MobileNetV2 for an input of that side: six grids of strides 16 to 512, three boxes a cell in
// the first, six in the others; 1917 for 300 pixels.
std::vector<Anchor> ssd_anchors(int side);

struct Object {
  std::size_t label = 0;
  float score = 0;  // 0..1
  Box box;          // in fractions of the input, may reach beyond it
};

// encodings: [anchors][4], centre y, x, height, width; logits: [anchors][classes], class 0 being none. The
// likeliest class of each anchor where its score reaches the threshold. Throws vellum::Error
// (invalid_argument) when the sizes do not fit the anchors.
std::vector<Object> decode_ssd(std::span<const float> encodings, std::span<const float> logits,
                               const std::vector<Anchor>& anchors, float score_threshold);

// Greedy non-maximum suppression, whatever the labels: an object that overlaps a better one by more than
// `overlap_threshold` (intersection over union) goes. The best first.
std::vector<Object> suppress_overlapping(std::vector<Object> objects, float overlap_threshold);

}  // namespace vellum::samples
