// Writes a PNG file row by row, so that a picture may be larger than memory.
#pragma once

#include <zlib.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/file_name.hpp"
#include "picture_writer.hpp"

namespace vellum::cli {

// 8-bit RGB or RGBA (https://www.w3.org/TR/png-3/). Until finish() the file's name ends with ".part"; without
// finish() it is removed.
class PngWriter : public PictureWriter {
 public:
  PngWriter(const io::FileName& file, uint32_t width, uint32_t height, uint32_t channels);

  void add_row(std::span<const uint8_t> row) override;
  void finish() override;

 private:
  struct EndDeflate {
    void operator()(z_stream* stream) const;
  };
  // Removes an unfinished file.
  struct TemporaryFile {
    std::filesystem::path path;
    ~TemporaryFile();
  };

  void compress(std::span<const uint8_t> bytes, int flush);
  void put_chunk(const std::array<char, 4>& type, std::span<const uint8_t> data);
  void check(bool good) const;

  const size_t channels_;  // bytes of a pixel
  const std::string name_;
  const std::filesystem::path path_;
  const TemporaryFile part_;
  std::ofstream stream_;
  std::unique_ptr<z_stream, EndDeflate> deflater_;
  std::vector<uint8_t> last_row_, filtered_, compressed_;
};

}  // namespace vellum::cli
