// Decodes the outputs of an SSD network to labelled boxes: Liu et al. 2016, "SSD: single shot multibox
// detector", arXiv 1512.02325, section 2.2 (default boxes), with the constants of MediaPipe's object
// detection graph (SsdAnchorsCalculator, TensorsToDetectionsCalculator, NonMaxSuppressionCalculator) and the
// box coding of TensorFlow's object detection (Ren et al. 2015, arXiv 1506.01497, equation 2, scaled by 10
// and 5).
#pragma once

#include <span>
#include <vector>

#include "common/box.hpp"

namespace vellum::samples {

// An anchor in fractions of the input, 0..1.
struct Anchor {
  Point center;
  float width = 0;
  float height = 0;
};

// Returns the anchors of SSD-MobileNetV2 for an input of that side: six grids of strides 16 to 512, with
// three boxes per cell in the first and six in the others; 1917 anchors for 300 pixels.
std::vector<Anchor> ssd_anchors(int side);

struct Object {
  std::size_t label = 0;
  float score = 0;  // 0..1
  Box box;          // in fractions of the input; may exceed it
};

// Returns the most likely class of each anchor whose score reaches the threshold. encodings: [anchors][4],
// centre y, x, height, width; logits: [anchors][classes], where class 0 is none. Throws vellum::Error
// (invalid_argument) if the sizes do not match the anchors.
std::vector<Object> decode_ssd(std::span<const float> encodings, std::span<const float> logits,
                               const std::vector<Anchor>& anchors, float score_threshold);

// Greedy non-maximum suppression over all labels: removes an object that overlaps a better one by more than
// `overlap_threshold` (intersection over union). Returns the best first.
std::vector<Object> suppress_overlapping(std::vector<Object> objects, float overlap_threshold);

}  // namespace vellum::samples
