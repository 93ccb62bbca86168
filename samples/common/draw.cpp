#include "common/draw.hpp"

#include <algorithm>

namespace vellum::samples {
namespace {

void set_pixel(Image& image, int x, int y, Color color) {
  std::uint8_t* pixel = image.pixel(x, y);
  pixel[0] = color.red;
  pixel[1] = color.green;
  pixel[2] = color.blue;
}

void fill(Image& image, int left, int top, int right, int bottom, Color color) {
  for (int y = std::max(top, 0); y <= std::min(bottom, image.height - 1); ++y) {
    for (int x = std::max(left, 0); x <= std::min(right, image.width - 1); ++x) set_pixel(image, x, y, color);
  }
}

}  // namespace

void draw_rectangle(Image& image, int left, int top, int right, int bottom, Color color, int thickness) {
  const int inset = thickness - 1;
  fill(image, left, top, right, std::min(top + inset, bottom), color);
  fill(image, left, std::max(bottom - inset, top), right, bottom, color);
  fill(image, left, top, std::min(left + inset, right), bottom, color);
  fill(image, std::max(right - inset, left), top, right, bottom, color);
}

void draw_disc(Image& image, int center_x, int center_y, int radius, Color color) {
  for (int y = std::max(center_y - radius, 0); y <= std::min(center_y + radius, image.height - 1); ++y) {
    for (int x = std::max(center_x - radius, 0); x <= std::min(center_x + radius, image.width - 1); ++x) {
      const int dx = x - center_x;
      const int dy = y - center_y;
      if (dx * dx + dy * dy <= radius * radius) set_pixel(image, x, y, color);
    }
  }
}

}  // namespace vellum::samples
