// Marks on an image; what lies outside the image is left out.
#pragma once

#include <cstdint>

#include "common/image.hpp"
#include "common/resize.hpp"

namespace vellum::samples {

struct Color {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

// The outline of the rectangle between two corners, both inside it, `thickness` pixels wide, growing inwards.
void draw_rectangle(Image& image, int left, int top, int right, int bottom, Color color, int thickness);

// All pixels between two corners, both of them included.
void fill_rectangle(Image& image, int left, int top, int right, int bottom, Color color);

// A filled disc.
void draw_disc(Image& image, int center_x, int center_y, int radius, Color color);

// A straight line between two points, `thickness` pixels wide with round ends, smooth at its edges.
void draw_line(Image& image, Point start, Point end, Color color, float thickness);

}  // namespace vellum::samples
