// Picture files byte by byte, of kinds that write_image() does not write.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace vellum::samples {

using FileBytes = std::vector<std::uint8_t>;

inline void append_number(FileBytes& file, std::uint32_t value, int size, bool big_endian) {
  for (int i = 0; i < size; ++i)
    file.push_back(static_cast<std::uint8_t>(value >> 8 * (big_endian ? size - 1 - i : i)));
}
inline void append_text(FileBytes& file, std::string_view text) {
  file.insert(file.end(), text.begin(), text.end());
}

// A chunk of a PNG; its checksum is 0, which is not verified.
inline void append_chunk(FileBytes& file, std::string_view type, std::span<const std::uint8_t> data) {
  append_number(file, static_cast<std::uint32_t>(data.size()), 4, true);
  append_text(file, type);
  file.insert(file.end(), data.begin(), data.end());
  append_number(file, 0, 4, true);
}

struct PngKind {
  int depth = 8;       // bits of a channel
  int color_type = 2;  // 0 grey, 2 red, green and blue, 3 palette, 4 grey and alpha, 6 with alpha
  FileBytes palette = {}, transparency = {}, exif = {};
};

// `rows`: all rows, each without a filter's byte, of `row_bytes`. At most 65,000 bytes in all.
inline FileBytes png_file(int width, int height, const PngKind& kind, const FileBytes& rows,
                          std::size_t row_bytes) {
  FileBytes file;
  append_text(file, "\x89PNG\r\n\x1a\n");
  FileBytes header;
  append_number(header, static_cast<std::uint32_t>(width), 4, true);
  append_number(header, static_cast<std::uint32_t>(height), 4, true);
  header.insert(header.end(),
                {static_cast<std::uint8_t>(kind.depth), static_cast<std::uint8_t>(kind.color_type), 0, 0, 0});
  append_chunk(file, "IHDR", header);
  if (!kind.palette.empty()) append_chunk(file, "PLTE", kind.palette);
  if (!kind.transparency.empty()) append_chunk(file, "tRNS", kind.transparency);
  if (!kind.exif.empty()) append_chunk(file, "eXIf", kind.exif);
  FileBytes raw;
  for (std::size_t at = 0; at < rows.size(); at += row_bytes) {
    raw.push_back(0);
    raw.insert(raw.end(), rows.begin() + static_cast<std::ptrdiff_t>(at),
               rows.begin() + static_cast<std::ptrdiff_t>(at + row_bytes));
  }
  FileBytes deflated{0x78, 0x01, 0x01};  // one block that is stored as it is
  append_number(deflated, static_cast<std::uint32_t>(raw.size()), 2, false);
  append_number(deflated, ~static_cast<std::uint32_t>(raw.size()), 2, false);
  deflated.insert(deflated.end(), raw.begin(), raw.end());
  append_number(deflated, 0, 4, true);
  append_chunk(file, "IDAT", deflated);
  append_chunk(file, "IEND", {});
  return file;
}

struct ExifKind {
  bool big_endian = false;
  int type = 3;  // 3 SHORT, 4 LONG
  std::uint32_t count = 1;
};

// Exif data whose first directory has a resolution unit and the orientation.
inline FileBytes exif_data(std::uint32_t orientation, const ExifKind& kind) {
  const bool big = kind.big_endian;
  FileBytes exif;
  append_text(exif, big ? "MM" : "II");
  append_number(exif, 42, 2, big);
  append_number(exif, 8, 4, big);
  append_number(exif, 2, 2, big);
  const auto entry = [&](std::uint32_t tag, std::uint32_t type, std::uint32_t count, std::uint32_t value) {
    append_number(exif, tag, 2, big);
    append_number(exif, type, 2, big);
    append_number(exif, count, 4, big);
    append_number(exif, value, type == 3 ? 2 : 4, big);
    if (type == 3) append_number(exif, 0, 2, big);
  };
  entry(0x0100, 4, 1, 77);  // a width
  entry(0x0112, static_cast<std::uint32_t>(kind.type), kind.count, orientation);
  append_number(exif, 0, 4, big);
  return exif;
}

// The JPEG with these Exif data after its first marker.
inline FileBytes jpeg_with_exif(const FileBytes& jpeg, const FileBytes& exif) {
  FileBytes file{0xff, 0xd8, 0xff, 0xe1};
  append_number(file, static_cast<std::uint32_t>(exif.size() + 8), 2, true);
  append_text(file, std::string_view("Exif\0\0", 6));
  file.insert(file.end(), exif.begin(), exif.end());
  file.insert(file.end(), jpeg.begin() + 2, jpeg.end());
  return file;
}

}  // namespace vellum::samples
