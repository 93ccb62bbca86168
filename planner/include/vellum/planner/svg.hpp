// Building blocks of the SVG pictures of memory.
#pragma once

#include <string>
#include <string_view>

namespace vellum::planner {

// Returns the opening tag of a picture of `width` by `height` units, with a white background.
std::string svg_begin(double width, double height);
std::string svg_number(double value);
// Escapes text or an attribute's value; control characters become spaces.
std::string svg_escaped(std::string_view text);

}  // namespace vellum::planner
