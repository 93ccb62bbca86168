// What still pictures of memory are written with.
#pragma once

#include <string>
#include <string_view>

namespace vellum::planner {

// The opening tag of a picture of that many units, and its white ground.
std::string svg_begin(double width, double height);
std::string svg_number(double value);
// Text or the value of an attribute: markup escaped, control characters as spaces.
std::string svg_escaped(std::string_view text);

}  // namespace vellum::planner
