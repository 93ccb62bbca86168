// Reads picture files as they are meant to be seen: upright, with alpha, in the precision of the file.
#pragma once

#include <cstdint>
#include <vector>

#include "common/file_name.hpp"
#include "common/image.hpp"

namespace vellum::samples {

// Rows from top to bottom, pixels from left to right, red, green, blue, alpha. One of the vectors is empty.
struct Picture {
  int width = 0;
  int height = 0;
  bool has_alpha = false;  // that is not the same as opaque everywhere; else alpha is the largest value
  std::vector<std::uint8_t> bytes;   // 4 * width * height values in 0..255
  std::vector<std::uint16_t> words;  // in 0..65535, of a PNG with 16 bits per channel

  bool is_deep() const { return !words.empty(); }
};

// Reads a PNG, JPEG or BMP file, which its contents tell, turned upright as the Exif data of a JPEG or PNG
// say. Grey is red, green and blue alike. Throws vellum::Error: not_found or io as read_file(), unsupported
// for other formats, which it names, and for more than 2^26 pixels, invalid_argument for what is no such
// picture or ends before its last pixel.
Picture load_picture(const FileName& name);

// 16 bits are rounded to 8.
Picture with_bytes(Picture picture);
// Drops alpha, too.
Image to_image(const Picture& picture);

}  // namespace vellum::samples
