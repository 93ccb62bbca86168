// The orientation in which a picture file is to be shown (Exif 2.3, 4.6.4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vellum::io {

// Return Exif's number 1..8: 1 is as stored, 6 is rotated by 90 degrees clockwise. Return 1 for a file
// without orientation, and if its Exif data are corrupt or have another number. `file`: a whole JPEG or PNG
// file.
int orientation_of_jpeg(std::span<const std::uint8_t> file);
int orientation_of_png(std::span<const std::uint8_t> file);

// Returns the orientation of a block of Exif data, which begins with its byte order.
int orientation_of_exif(std::span<const std::uint8_t> exif);

// Returns whether a JPEG file is complete. The decoder fills missing parts with arbitrary colours.
bool jpeg_is_whole(std::span<const std::uint8_t> file);

// Reorders pixels from the stored to the shown orientation, row by row, and sets width and height to those
// shown.
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

}  // namespace vellum::io
