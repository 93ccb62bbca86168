// Rectangles around what a network found.
#pragma once

#include "common/resize.hpp"

namespace vellum::samples {

struct Box {
  Point top_left;
  Point bottom_right;
};

// Intersection over union; 0 where neither has an area.
float overlap(const Box& a, const Box& b);

}  // namespace vellum::samples
