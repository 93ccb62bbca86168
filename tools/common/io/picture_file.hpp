// Reads picture files upright, with alpha, in the precision of the file.
#pragma once

#include <cstdint>
#include <vector>

#include "io/file_name.hpp"
#include "io/image.hpp"

namespace vellum::io {

// Rows from top to bottom, pixels from left to right, red, green, blue, alpha. One of the vectors is empty.
struct Picture {
  int width = 0;
  int height = 0;
  bool has_alpha = false;            // whether some pixels are not opaque
  std::vector<std::uint8_t> bytes;   // 4 * width * height values in 0..255
  std::vector<std::uint16_t> words;  // values in 0..65535, for a PNG with 16 bits per channel

  bool is_deep() const { return !words.empty(); }
};

// Reads a PNG, JPEG or BMP file, recognised by its contents, and rotates it upright by the Exif data of a
// JPEG or PNG. Grey becomes equal red, green and blue. Throws vellum::Error: not_found or io as read_file()
// does; unsupported for other formats, which it names, and for more than 2^26 pixels; invalid_argument for a
// file that is no picture or is truncated.
Picture load_picture(const FileName& name);

// Rounds 16 bits to 8.
Picture with_bytes(Picture picture);
// Rounds to 8 bits and drops alpha.
Image to_image(const Picture& picture);

}  // namespace vellum::io
