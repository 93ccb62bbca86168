#include "io/picture_file.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "io/exif.hpp"
#include "io/files.hpp"
#include "io/picture_format.hpp"
#include "vellum/error.hpp"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_MAX_DIMENSIONS 32768
#include <stb/stb_image.h>

namespace vellum::io {
namespace {

constexpr std::int64_t kMostPixels = std::int64_t{1} << 26;

using Bytes = std::span<const std::uint8_t>;

[[noreturn]] void refuse_cut(const FileName& name) {
  throw Error(ErrorCode::invalid_argument, name.text() + ": the file ends before the picture does");
}

std::int64_t little_endian(Bytes file, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | file[at + i];
  return size == 4 ? static_cast<std::int32_t>(value) : value;
}

// The decoder reads zeros beyond the end of a file. Compressed ones it refuses itself.
bool bmp_is_whole(Bytes file) {
  const bool old = file.size() >= 26 && file[14] == 12;
  if (file.size() < (old ? 26u : 34u)) return false;
  const std::size_t number = old ? 2 : 4;
  const std::int64_t width = little_endian(file, 18, number),
                     height = std::abs(little_endian(file, 18 + number, number)),
                     bits = little_endian(file, 20 + 2 * number, 2);
  const std::int64_t row = (std::max<std::int64_t>(width, 0) * bits + 31) / 32 * 4;
  const auto begin = static_cast<std::uint32_t>(little_endian(file, 10, 4));
  // The padding of the last row may be missing.
  const std::int64_t last = (std::max<std::int64_t>(width, 0) * bits + 7) / 8;
  return height == 0 || begin + row * (height - 1) + last <= static_cast<std::int64_t>(file.size());
}

void check_size(const FileName& name, Bytes file) {
  if (file.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error(ErrorCode::unsupported, name.text() + ": an image file of more than 2 GiB");
  // Before decoding, which takes several times the pixels: a picture of one colour is a small file.
  int width = 0, height = 0, channels = 0;
  if (stbi_info_from_memory(file.data(), static_cast<int>(file.size()), &width, &height, &channels) &&
      std::int64_t{width} * height > kMostPixels)
    throw Error(ErrorCode::unsupported, name.text() + ": a picture of " + std::to_string(width) + "x" +
                                            std::to_string(height) + " pixels; at most " +
                                            std::to_string(kMostPixels) + " are read");
}

template <typename Value>
using Pixels = std::vector<std::array<Value, 4>>;

// `channels`: of the file.
template <typename Value, typename Decode>
Pixels<Value> decoded(const FileName& name, Bytes file, Decode decode, Picture& picture, int& channels) {
  const std::unique_ptr<Value, void (*)(void*)> values(
      decode(file.data(), static_cast<int>(file.size()), &picture.width, &picture.height, &channels, 4),
      stbi_image_free);
  if (!values)
    throw Error(ErrorCode::invalid_argument, name.text() + ": not a readable " +
                                                 std::string(picture_format(file)) + " image (" +
                                                 stbi_failure_reason() + ")");
  Pixels<Value> pixels(static_cast<std::size_t>(picture.width) * picture.height);
  for (std::size_t i = 0; i < pixels.size(); ++i) std::copy_n(values.get() + 4 * i, 4, pixels[i].begin());
  return pixels;
}

template <typename Value>
std::vector<Value> upright(Pixels<Value> pixels, int orientation, bool with_alpha, Picture& picture) {
  pixels = oriented(std::move(pixels), orientation, picture.width, picture.height);
  constexpr Value opaque = std::numeric_limits<Value>::max();
  picture.has_alpha =
      with_alpha && std::ranges::any_of(pixels, [](const auto& pixel) { return pixel[3] != opaque; });
  std::vector<Value> values;
  values.reserve(4 * pixels.size());
  for (const auto& pixel : pixels) values.insert(values.end(), pixel.begin(), pixel.end());
  return values;
}

// PNGs of one vendor's phones have blue first and alpha multiplied in. The settings are the decoder's
// globals.
void undo_phone_pngs() {
  static const bool once = [] {
    stbi_convert_iphone_png_to_rgb(1);
    stbi_set_unpremultiply_on_load(1);
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace

Picture load_picture(const FileName& name) {
  const std::vector<std::uint8_t> file = read_file(name);
  const std::string_view format = picture_format(file);
  if (!is_read(format))
    throw Error(format.empty() ? ErrorCode::invalid_argument : ErrorCode::unsupported,
                name.text() + ": " +
                    (format.empty() ? "no picture" : "a " + std::string(format) + " picture") +
                    "; PNG, JPEG and BMP are read");
  check_size(name, file);
  int orientation = 1;
  if (format == "JPEG") orientation = orientation_of_jpeg(file);
  if (format == "PNG") orientation = orientation_of_png(file);
  Picture picture;
  int channels = 0;
  const int length = static_cast<int>(file.size());
  undo_phone_pngs();
  if (format == "PNG" && stbi_is_16_bit_from_memory(file.data(), length)) {
    auto pixels = decoded<std::uint16_t>(name, file, stbi_load_16_from_memory, picture, channels);
    picture.words = upright(std::move(pixels), orientation, channels % 2 == 0, picture);
    return picture;
  }
  auto pixels = decoded<std::uint8_t>(name, file, stbi_load_from_memory, picture, channels);
  if ((format == "JPEG" && !jpeg_is_whole(file)) || (format == "BMP" && !bmp_is_whole(file)))
    refuse_cut(name);
  picture.bytes = upright(std::move(pixels), orientation, channels % 2 == 0, picture);
  return picture;
}

Picture with_bytes(Picture picture) {
  for (const std::uint16_t word : picture.words)
    picture.bytes.push_back(static_cast<std::uint8_t>((word + 128u) / 257u));
  picture.words = {};
  return picture;
}

Image to_image(const Picture& picture) {
  if (picture.is_deep()) return to_image(with_bytes(picture));
  Image image = make_image(picture.width, picture.height);
  const std::size_t pixels = picture.bytes.size() / 4;
  for (std::size_t i = 0; i < pixels; ++i) std::copy_n(&picture.bytes[4 * i], 3, &image.rgb[3 * i]);
  return image;
}

}  // namespace vellum::io
