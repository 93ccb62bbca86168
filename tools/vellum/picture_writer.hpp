// Writes a picture file row by row.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "common/file_name.hpp"

namespace vellum::cli {

// In 8 bits per channel.
class PictureWriter {
 public:
  virtual ~PictureWriter() = default;
  // `row`: a value for each channel of each pixel. Throws Error(io), also below.
  virtual void add_row(std::span<const uint8_t> row) = 0;
  // After the last row. Without it there is no file.
  virtual void finish() = 0;
};

// The format that the ending of the name says. `channels`: 3, or 4 with alpha, which PNG alone keeps. A PNG
// may be larger than memory; other formats are held in memory until finish(). Throws Error(invalid_argument)
// for an ending that is no format's, Error(unsupported) for what the format cannot hold, Error(io).
std::unique_ptr<PictureWriter> make_picture_writer(const samples::FileName& file, uint32_t width,
                                                   uint32_t height, uint32_t channels);

}  // namespace vellum::cli
