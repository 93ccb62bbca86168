// Boxes of detections.
#pragma once

#include "common/resize.hpp"

namespace vellum::samples {

struct Box {
  Point top_left;
  Point bottom_right;
};

// Returns the intersection over union; 0 if neither box has an area.
float overlap(const Box& a, const Box& b);

}  // namespace vellum::samples
