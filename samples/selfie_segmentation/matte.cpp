#include "selfie_segmentation/matte.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

// One pass along rows or columns: `stride` values from one pixel of the line to the next.
void blur_line(const std::uint8_t* from, std::uint8_t* to, int length, std::ptrdiff_t stride, int radius) {
  const auto at = [&](int position) { return int{from[std::clamp(position, 0, length - 1) * stride]}; };
  const int count = 2 * radius + 1;
  int sum = 0;
  for (int i = -radius; i <= radius; ++i) sum += at(i);
  for (int i = 0; i < length; ++i) {
    to[i * stride] = static_cast<std::uint8_t>((sum + radius) / count);
    sum += at(i + radius + 1) - at(i - radius);
  }
}

}  // namespace

double Matte::mean() const {
  return std::accumulate(share.begin(), share.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(share.size(), 1));
}

Matte stretch_mask(std::span<const float> mask, int mask_width, int mask_height, int width, int height) {
  if (mask_width < 1 || mask_height < 1 ||
      mask.size() != static_cast<std::size_t>(mask_width) * static_cast<std::size_t>(mask_height) ||
      !std::all_of(mask.begin(), mask.end(), [](float v) { return std::isfinite(v); })) {
    throw Error(ErrorCode::invalid_argument, "the mask is not " + std::to_string(mask_width) + " x " +
                                                 std::to_string(mask_height) + " finite values");
  }
  struct Place {
    std::size_t lower, upper;
    float fraction;
  };
  const auto place = [](int position, int size, int mask_size) {
    const float at =
        (static_cast<float>(position) + 0.5f) * static_cast<float>(mask_size) / static_cast<float>(size) -
        0.5f;
    const float inside = std::clamp(at, 0.0f, static_cast<float>(mask_size - 1));
    const auto lower = static_cast<std::size_t>(inside);
    return Place{lower, std::min(lower + 1, static_cast<std::size_t>(mask_size - 1)),
                 inside - static_cast<float>(lower)};
  };
  Matte matte{width, height, {}};
  const auto row_length = static_cast<std::size_t>(mask_width);
  for (int y = 0; y < height; ++y) {
    const Place row = place(y, height, mask_height);
    for (int x = 0; x < width; ++x) {
      const Place column = place(x, width, mask_width);
      const auto along = [&](std::size_t line) {
        return std::lerp(mask[line * row_length + column.lower], mask[line * row_length + column.upper],
                         column.fraction);
      };
      matte.share.push_back(
          std::clamp(std::lerp(along(row.lower), along(row.upper), row.fraction), 0.0f, 1.0f));
    }
  }
  return matte;
}

io::Image blur(const io::Image& image, int radius) {
  io::Image blurred = image, line = image;
  const std::ptrdiff_t row = std::ptrdiff_t{3} * image.width;
  for (int pass = 0; pass < 3; ++pass) {
    for (int y = 0; y < image.height; ++y)
      for (int channel = 0; channel < 3; ++channel)
        blur_line(blurred.pixel(0, y) + channel, line.pixel(0, y) + channel, image.width, 3, radius);
    for (int x = 0; x < image.width; ++x)
      for (int channel = 0; channel < 3; ++channel)
        blur_line(line.pixel(x, 0) + channel, blurred.pixel(x, 0) + channel, image.height, row, radius);
  }
  return blurred;
}

io::Image replace_background(const io::Image& photo, const io::Image& background, const Matte& person) {
  if (background.rgb.size() != photo.rgb.size() || 3 * person.share.size() != photo.rgb.size())
    throw Error(ErrorCode::invalid_argument, "photo, background and mask are not of one size");
  io::Image result = photo;
  for (std::size_t i = 0; i < result.rgb.size(); ++i) {
    const float mixed = std::lerp(static_cast<float>(background.rgb[i]), static_cast<float>(photo.rgb[i]),
                                  person.share[i / 3]);
    result.rgb[i] = static_cast<std::uint8_t>(std::lround(mixed));
  }
  return result;
}

}  // namespace vellum::samples
