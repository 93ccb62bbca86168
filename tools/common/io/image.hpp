// RGB images, and reading and writing their files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/file_name.hpp"

namespace vellum::io {

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

// Reads a PNG, JPEG or BMP file as load_picture() does (picture_file.hpp), in 8 bits and without alpha.
Image load_image(const FileName& name);

// Writes a PNG, JPEG or BMP file, according to the extension of the name (encoding_of() in
// picture_format.hpp). Throws vellum::Error: io, invalid_argument for other extensions, and unsupported as
// require_encodable() does.
void write_image(const FileName& name, const Image& image);

// Throws Error(invalid_argument) for an unknown extension, and Error(unsupported) for a picture that is too
// large for the format.
void require_encodable(const FileName& name, std::int64_t width = 1, std::int64_t height = 1);

}  // namespace vellum::io
