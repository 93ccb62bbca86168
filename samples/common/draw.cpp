#include "common/draw.hpp"

#include <algorithm>
#include <cmath>

namespace vellum::samples {
namespace {

void set_pixel(io::Image& image, int x, int y, Color color) {
  std::uint8_t* pixel = image.pixel(x, y);
  pixel[0] = color.red;
  pixel[1] = color.green;
  pixel[2] = color.blue;
}

void blend_pixel(io::Image& image, int x, int y, Color color, float share) {
  std::uint8_t* pixel = image.pixel(x, y);
  const std::uint8_t channels[] = {color.red, color.green, color.blue};
  for (int i = 0; i < 3; ++i) {
    const float mixed = static_cast<float>(pixel[i]) * (1 - share) + static_cast<float>(channels[i]) * share;
    pixel[i] = static_cast<std::uint8_t>(std::lround(mixed));
  }
}

float distance_to_segment(Point point, Point start, Point end) {
  const float x = end.x - start.x, y = end.y - start.y;
  const float squared = x * x + y * y;
  const float along =
      squared > 0 ? std::clamp(((point.x - start.x) * x + (point.y - start.y) * y) / squared, 0.0f, 1.0f) : 0;
  return std::hypot(point.x - start.x - along * x, point.y - start.y - along * y);
}

}  // namespace

void fill_rectangle(io::Image& image, int left, int top, int right, int bottom, Color color) {
  for (int y = std::max(top, 0); y <= std::min(bottom, image.height - 1); ++y) {
    for (int x = std::max(left, 0); x <= std::min(right, image.width - 1); ++x) set_pixel(image, x, y, color);
  }
}

void draw_rectangle(io::Image& image, int left, int top, int right, int bottom, Color color, int thickness) {
  const int inset = thickness - 1;
  fill_rectangle(image, left, top, right, std::min(top + inset, bottom), color);
  fill_rectangle(image, left, std::max(bottom - inset, top), right, bottom, color);
  fill_rectangle(image, left, top, std::min(left + inset, right), bottom, color);
  fill_rectangle(image, std::max(right - inset, left), top, right, bottom, color);
}

void draw_disc(io::Image& image, int center_x, int center_y, int radius, Color color) {
  for (int y = std::max(center_y - radius, 0); y <= std::min(center_y + radius, image.height - 1); ++y) {
    for (int x = std::max(center_x - radius, 0); x <= std::min(center_x + radius, image.width - 1); ++x) {
      const int dx = x - center_x;
      const int dy = y - center_y;
      if (dx * dx + dy * dy <= radius * radius) set_pixel(image, x, y, color);
    }
  }
}

void draw_line(io::Image& image, Point start, Point end, Color color, float thickness) {
  const float reach = thickness / 2 + 1;
  // Clamped as floats, because an end may be outside the range of int.
  const auto inside = [](float value, int size) {
    return static_cast<int>(std::clamp(value, 0.0f, static_cast<float>(size - 1)));
  };
  const int left = inside(std::min(start.x, end.x) - reach, image.width);
  const int right = inside(std::max(start.x, end.x) + reach, image.width);
  const int top = inside(std::min(start.y, end.y) - reach, image.height);
  const int bottom = inside(std::max(start.y, end.y) + reach, image.height);
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      const Point center{static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f};
      const float covered = thickness / 2 + 0.5f - distance_to_segment(center, start, end);
      if (covered > 0) blend_pixel(image, x, y, color, std::min(covered, 1.0f));
    }
  }
}

}  // namespace vellum::samples
