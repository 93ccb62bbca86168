// Writes a picture file row by row.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "io/file_name.hpp"

namespace vellum::cli {

// Pixels have 8 bits per channel.
class PictureWriter {
 public:
  virtual ~PictureWriter() = default;
  // Writes a row. `row`: a value for each channel of each pixel. Throws Error(io), as finish() does.
  virtual void add_row(std::span<const uint8_t> row) = 0;
  // Call it after the last row. Without it there is no file.
  virtual void finish() = 0;
};

// Makes a writer for the format of the name's extension. `channels`: 3, or 4 with alpha, which only PNG
// stores. A PNG may be larger than memory; other formats are held in memory until finish(). Throws
// Error(invalid_argument) for an unknown extension, Error(unsupported) for pictures that the format cannot
// store, Error(io).
std::unique_ptr<PictureWriter> make_picture_writer(const io::FileName& file, uint32_t width, uint32_t height,
                                                   uint32_t channels);

}  // namespace vellum::cli
