// Draws on an image, clipped to it.
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

// Draws the outline of the rectangle between two inclusive corners, `thickness` pixels wide, growing inwards.
void draw_rectangle(Image& image, int left, int top, int right, int bottom, Color color, int thickness);

// Fills the rectangle between two inclusive corners.
void fill_rectangle(Image& image, int left, int top, int right, int bottom, Color color);

// Draws a filled disc.
void draw_disc(Image& image, int center_x, int center_y, int radius, Color color);

// Draws a straight, antialiased line, `thickness` pixels wide, with round ends.
void draw_line(Image& image, Point start, Point end, Color color, float thickness);

}  // namespace vellum::samples
