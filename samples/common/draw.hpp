// Draws on an image, clipped to it.
#pragma once

#include <cstdint>

#include "common/resize.hpp"
#include "io/image.hpp"

namespace vellum::samples {

struct Color {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

// Draws the outline of the rectangle between two inclusive corners, `thickness` pixels wide, growing inwards.
void draw_rectangle(io::Image& image, int left, int top, int right, int bottom, Color color, int thickness);

// Fills the rectangle between two inclusive corners.
void fill_rectangle(io::Image& image, int left, int top, int right, int bottom, Color color);

// Draws a filled disc.
void draw_disc(io::Image& image, int center_x, int center_y, int radius, Color color);

// Draws a straight, antialiased line, `thickness` pixels wide, with round ends.
void draw_line(io::Image& image, Point start, Point end, Color color, float thickness);

}  // namespace vellum::samples
