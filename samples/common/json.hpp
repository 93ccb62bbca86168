// Points and boxes as the samples print them with --json: in pixels of the photo.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "common/resize.hpp"

namespace vellum::samples {

inline nlohmann::ordered_json to_json(const Point& point) { return {point.x, point.y}; }

inline nlohmann::ordered_json to_json(const std::vector<Point>& points) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Point& point : points) list.push_back(to_json(point));
  return list;
}

// [left, top, right, bottom]
inline nlohmann::ordered_json box_json(const Point& top_left, const Point& bottom_right) {
  return {top_left.x, top_left.y, bottom_right.x, bottom_right.y};
}

}  // namespace vellum::samples
