// Writes a PNG file row by row, so that a picture may be larger than memory.
#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "common/file_name.hpp"

namespace vellum::cli {

// RGB in 8 bits. https://www.w3.org/TR/png-3/, https://www.rfc-editor.org/rfc/rfc1951
class PngWriter {
 public:
  // Throws Error(io), also below.
  PngWriter(const samples::FileName& file, uint32_t width, uint32_t height);

  void add_row(std::span<const uint8_t> rgb);  // 3 * width
  // After the last row.
  void finish();

 private:
  void put_chunk(const char* type, std::span<const uint8_t> data);
  void put_bits(uint32_t bits, int count);
  void put_code(uint32_t code, int count);
  void put_symbol(uint32_t symbol);
  void put_match(uint32_t length, uint32_t distance);
  void compress();
  void put_data();
  void check() const;

  const std::string name_;
  std::ofstream stream_;
  const size_t row_bytes_;
  std::vector<uint8_t> last_row_, filtered_, data_;  // data_: compressed, not written yet
  uint64_t bits_ = 0;
  int bit_count_ = 0;
  uint32_t adler_a_ = 1, adler_b_ = 0;
};

}  // namespace vellum::cli
