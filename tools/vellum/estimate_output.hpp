// Points of `vellum estimate` as tables and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "estimate_points.hpp"

namespace vellum::cli {

// Categories downwards; beside the estimate what was measured, where it was.
std::string category_table(const Point& point);
// A row a point. `axis`: what changes from one to the next.
std::string curve_table(const std::vector<Point>& points, const std::string& axis);
nlohmann::json to_json(const Point& point);

}  // namespace vellum::cli
