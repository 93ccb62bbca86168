// Recognises the format of a picture file by its contents.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "io/file_name.hpp"

namespace vellum::io {

// Returns "PNG", "JPEG" or "BMP", which can be read; the name of another known format, such as "WebP"; or an
// empty name. `begin`: the file or its first kFormatBytes bytes.
std::string_view picture_format(std::span<const std::uint8_t> begin);
inline constexpr std::size_t kFormatBytes = 32;

// Does the same for a file. Returns an empty name if it cannot be read.
std::string_view picture_format(const FileName& file);

bool is_read(std::string_view format);

// The formats in which pictures are written.
enum class PictureEncoding : std::uint8_t { png, jpeg, bmp };
// Returns the encoding for the extension of the name, ignoring case; png for a name without one. Throws
// Error(invalid_argument) for other extensions.
PictureEncoding encoding_of(const FileName& file);

}  // namespace vellum::io
