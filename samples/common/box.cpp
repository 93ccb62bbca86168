#include "common/box.hpp"

#include <algorithm>

namespace vellum::samples {
namespace {

float area(const Box& box) {
  return std::max(box.bottom_right.x - box.top_left.x, 0.0f) *
         std::max(box.bottom_right.y - box.top_left.y, 0.0f);
}

}  // namespace

float overlap(const Box& a, const Box& b) {
  const float intersection =
      area({{std::max(a.top_left.x, b.top_left.x), std::max(a.top_left.y, b.top_left.y)},
            {std::min(a.bottom_right.x, b.bottom_right.x), std::min(a.bottom_right.y, b.bottom_right.y)}});
  const float both = area(a) + area(b) - intersection;
  return both > 0 ? intersection / both : 0;
}

}  // namespace vellum::samples
