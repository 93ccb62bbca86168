#include "io/exif.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace vellum::io {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Numbers at positions that a file chooses: nothing beyond its end.
std::optional<std::uint32_t> number(Bytes bytes, std::uint64_t at, int size, bool big_endian) {
  if (at > bytes.size() || static_cast<std::uint64_t>(size) > bytes.size() - at) return std::nullopt;
  std::uint32_t value = 0;
  for (int i = 0; i < size; ++i)
    value = value << 8 | bytes[static_cast<std::size_t>(at) + (big_endian ? i : size - 1 - i)];
  return value;
}

bool begins_with(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin(),
                    [](char want, std::uint8_t got) { return static_cast<std::uint8_t>(want) == got; });
}

struct Segment {
  int marker = 0;
  Bytes payload;
  std::size_t end = 0;  // where the next begins
};

constexpr int kStart = 0xd8, kEnd = 0xd9, kScan = 0xda, kApp1 = 0xe1;

// These have no payload: the start, restarts within a scan and TEM.
bool stands_alone(int marker) { return marker == 0x01 || (marker >= 0xd0 && marker <= kEnd); }

// The first segment from `at` on, past bytes that are in none (the decoder skips them, too). In a scan 0xff
// is followed by 0, which is no marker.
std::optional<Segment> next_segment(Bytes file, std::size_t at) {
  for (; at + 1 < file.size(); ++at) {
    const int marker = file[at + 1];
    if (file[at] != 0xff || marker == 0 || marker == 0xff) continue;
    if (stands_alone(marker)) return Segment{marker, {}, at + 2};
    const std::optional<std::uint32_t> length = number(file, at + 2, 2, true);
    if (!length || *length < 2 || *length > file.size() - (at + 2)) return std::nullopt;
    return Segment{marker, file.subspan(at + 4, *length - 2), at + 2 + *length};
  }
  return std::nullopt;
}

constexpr std::uint32_t kOrientationTag = 0x0112, kShort = 3, kLong = 4;

}  // namespace

int orientation_of_exif(Bytes exif) {
  const bool big = begins_with(exif, {"MM\0*", 4});
  if (!big && !begins_with(exif, {"II*\0", 4})) return 1;
  const std::optional<std::uint32_t> directory = number(exif, 4, 4, big);
  if (!directory) return 1;
  const std::uint32_t entries = number(exif, *directory, 2, big).value_or(0);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::uint64_t entry = std::uint64_t{*directory} + 2 + 12 * std::uint64_t{i};
    const std::optional<std::uint32_t> tag = number(exif, entry, 2, big);
    if (!tag) return 1;
    if (*tag != kOrientationTag) continue;
    const std::uint32_t type = number(exif, entry + 2, 2, big).value_or(0);
    if ((type != kShort && type != kLong) || number(exif, entry + 4, 4, big) != 1u) return 1;
    const std::uint32_t value = number(exif, entry + 8, type == kShort ? 2 : 4, big).value_or(1);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

int orientation_of_jpeg(Bytes file) {
  std::size_t at = 0;
  while (const std::optional<Segment> segment = next_segment(file, at)) {
    if (segment->marker == kScan || segment->marker == kEnd) return 1;
    if (segment->marker == kApp1 && begins_with(segment->payload, {"Exif\0", 5}) &&
        segment->payload.size() > 6)
      return orientation_of_exif(segment->payload.subspan(6));
    at = segment->end;
  }
  return 1;
}

int orientation_of_png(Bytes file) {
  std::uint64_t at = 8;
  while (const std::optional<std::uint32_t> length = number(file, at, 4, true)) {
    if (at + 12 > file.size() || *length > file.size() - at - 12) return 1;
    const Bytes chunk = file.subspan(static_cast<std::size_t>(at) + 4, std::size_t{4} + *length);
    if (begins_with(chunk, "eXIf")) return orientation_of_exif(chunk.subspan(4));
    at += std::uint64_t{12} + *length;
  }
  return 1;
}

bool jpeg_is_whole(Bytes file) {
  std::size_t at = 0;
  while (const std::optional<Segment> segment = next_segment(file, at)) {
    if (segment->marker == kEnd) return true;
    at = segment->end;
  }
  return false;
}

}  // namespace vellum::io
