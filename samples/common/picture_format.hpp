// Which picture format a file has, by its contents.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/file_name.hpp"

namespace vellum::samples {

// "PNG", "JPEG" or "BMP", which are read; the name of another format, such as "WebP"; or nothing for what is
// no picture that is known. `begin`: the file or its first kFormatBytes bytes.
std::string_view picture_format(std::span<const std::uint8_t> begin);
inline constexpr std::size_t kFormatBytes = 32;

// The same for a file; nothing for one that cannot be read.
std::string_view picture_format(const FileName& file);

bool is_read(std::string_view format);

// The formats in which pictures are written.
enum class PictureEncoding : std::uint8_t { png, jpeg, bmp };
// By the ending of the name, whose case is ignored; png for a name without one. Throws
// Error(invalid_argument) for other endings.
PictureEncoding encoding_of(const FileName& file);

}  // namespace vellum::samples
