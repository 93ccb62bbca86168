#include "common/region.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

// Linear between pixel centres, the border repeated.
float sample(const io::Image& image, Point at, int channel) {
  const float x = std::clamp(at.x - 0.5f, 0.0f, static_cast<float>(image.width - 1));
  const float y = std::clamp(at.y - 0.5f, 0.0f, static_cast<float>(image.height - 1));
  const int left = static_cast<int>(x), top = static_cast<int>(y);
  const int right = std::min(left + 1, image.width - 1), bottom = std::min(top + 1, image.height - 1);
  const float u = x - static_cast<float>(left), v = y - static_cast<float>(top);
  const auto value = [&](int column, int row) {
    return static_cast<float>(image.pixel(column, row)[channel]);
  };
  return (value(left, top) * (1 - u) + value(right, top) * u) * (1 - v) +
         (value(left, bottom) * (1 - u) + value(right, bottom) * u) * v;
}

}  // namespace

Point Region::to_image(Point inside) const {
  return {corner.x + inside.x * (right.x - corner.x) + inside.y * (down.x - corner.x),
          corner.y + inside.x * (right.y - corner.y) + inside.y * (down.y - corner.y)};
}

Region square_region(Point center, float side, float angle) {
  const float c = std::cos(angle) * side / 2, s = std::sin(angle) * side / 2;
  return {{center.x - c + s, center.y - s - c},
          {center.x + c + s, center.y + s - c},
          {center.x - c - s, center.y - s + c}};
}

std::vector<float> cut_out(const io::Image& image, const Region& region, int width, int height) {
  std::vector<float> rgb;
  rgb.reserve(std::size_t{3} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const Point at = region.to_image({(static_cast<float>(x) + 0.5f) / static_cast<float>(width),
                                        (static_cast<float>(y) + 0.5f) / static_cast<float>(height)});
      for (int channel = 0; channel < 3; ++channel) rgb.push_back(sample(image, at, channel));
    }
  }
  return rgb;
}

io::Image center_part(const io::Image& image, int width, int height) {
  const std::int64_t across = std::int64_t{image.width} * height, down = std::int64_t{image.height} * width;
  const int part_width = across > down ? std::max(static_cast<int>(down / height), 1) : image.width;
  const int part_height = across < down ? std::max(static_cast<int>(across / width), 1) : image.height;
  const int left = (image.width - part_width) / 2, top = (image.height - part_height) / 2;
  io::Image part = io::make_image(part_width, part_height);
  for (int y = 0; y < part_height; ++y)
    std::copy_n(image.pixel(left, top + y), 3 * static_cast<std::size_t>(part_width), part.pixel(0, y));
  return part;
}

FrameTransform region_transform(const Region& region, FrameSize network) {
  return FrameTransform::region({region.corner.x, region.corner.y}, {region.right.x, region.right.y},
                                {region.down.x, region.down.y}, network);
}

Point to_point(FramePoint point) { return {static_cast<float>(point.x), static_cast<float>(point.y)}; }

}  // namespace vellum::samples
