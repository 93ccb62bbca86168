// Points of `vellum estimate` as tables and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "estimate_points.hpp"

namespace vellum::cli {

// Returns a table with a row for each category; a second column has measurements, if there are any.
std::string category_table(const Point& point);
// Returns a table with a row for each point. `axis`: the name of Point::x, such as "batch".
std::string curve_table(const std::vector<Point>& points, const std::string& axis);
nlohmann::json to_json(const Point& point);

}  // namespace vellum::cli
