// The orientation that a picture file asks its readers to show it in (Exif 2.3, 4.6.4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vellum::samples {

// 1..8, as Exif numbers them: 1 is as stored, 6 is turned by 90 degrees clockwise. 1 for a file without
// orientation, and where its Exif data are corrupt or name no such number. `file`: a whole JPEG or PNG file.
int orientation_of_jpeg(std::span<const std::uint8_t> file);
int orientation_of_png(std::span<const std::uint8_t> file);

// That of a block of Exif data, which begins with its byte order.
int orientation_of_exif(std::span<const std::uint8_t> exif);

// Whether a JPEG file has its end. The decoder fills what is missing with any colour.
bool jpeg_is_whole(std::span<const std::uint8_t> file);

// Pixels as stored, row by row, become pixels as shown; width and height become those shown.
template <typename Pixel>
std::vector<Pixel> oriented(std::vector<Pixel> stored, int orientation, int& width, int& height) {
  if (orientation == 1) return stored;
  const bool turned = orientation >= 5;  // rows become columns
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const int shown_width = turned ? height : width, shown_height = turned ? width : height;
  std::vector<Pixel> shown;
  shown.reserve(stored.size());
  for (int y = 0; y < shown_height; ++y) {
    for (int x = 0; x < shown_width; ++x) {
      const int across = turned ? y : x, down = turned ? x : y;
      const int column = from_right ? width - 1 - across : across;
      const int row = from_bottom ? height - 1 - down : down;
      shown.push_back(stored[static_cast<std::size_t>(row) * width + column]);
    }
  }
  width = shown_width;
  height = shown_height;
  return shown;
}

}  // namespace vellum::samples
