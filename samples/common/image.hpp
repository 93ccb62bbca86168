// RGB images, and reading and writing their files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/file_name.hpp"

namespace vellum::samples {

// Rows from top to bottom, pixels from left to right, red, green, blue.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;  // 3 * width * height

  std::uint8_t* pixel(int x, int y) { return rgb.data() + 3 * (static_cast<std::size_t>(y) * width + x); }
  const std::uint8_t* pixel(int x, int y) const {
    return rgb.data() + 3 * (static_cast<std::size_t>(y) * width + x);
  }
};

Image make_image(int width, int height);  // black

// Reads a PNG or JPEG file; drops an alpha channel. Throws vellum::Error if the file does not exist, cannot
// be read, or is no such image.
Image load_image(const FileName& name);

// Writes a PNG file. Throws vellum::Error (io).
void write_png(const FileName& name, const Image& image);

}  // namespace vellum::samples
