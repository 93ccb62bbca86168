#include "io/image.hpp"

#include <algorithm>
#include <string>

#include "io/files.hpp"
#include "io/picture_file.hpp"
#include "io/picture_format.hpp"
#include "vellum/error.hpp"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

namespace vellum::io {
namespace {

// stb_image_write's, and 4:4:4 from 91 on: marks of one colour stay sharp.
constexpr int kJpegQuality = 95;
constexpr int kLongestJpegSide = 65535;
// Below 2 GiB of a BMP, whose header counts its bytes in 32 bits.
constexpr std::int64_t kMostEncodedPixels = std::int64_t{1} << 29;

using EncodedFile = std::vector<std::uint8_t>;

void append(void* bytes, void* data, int size) {
  const auto* begin = static_cast<const std::uint8_t*>(data);
  auto& target = *static_cast<EncodedFile*>(bytes);
  target.insert(target.end(), begin, begin + size);
}

int encode(const Image& image, PictureEncoding encoding, EncodedFile& file) {
  const int width = image.width, height = image.height;
  const std::uint8_t* rgb = image.rgb.data();
  switch (encoding) {
    case PictureEncoding::jpeg:
      return stbi_write_jpg_to_func(append, &file, width, height, 3, rgb, kJpegQuality);
    case PictureEncoding::bmp:
      return stbi_write_bmp_to_func(append, &file, width, height, 3, rgb);
    case PictureEncoding::png:
      break;
  }
  return stbi_write_png_to_func(append, &file, width, height, 3, rgb, 3 * width);
}

}  // namespace

Image make_image(int width, int height) {
  if (width < 1 || height < 1) {
    throw Error(ErrorCode::invalid_argument, "an image of " + std::to_string(width) + "x" +
                                                 std::to_string(height) + " pixels has no area");
  }
  return {width, height, std::vector<std::uint8_t>(std::size_t{3} * width * height)};
}

Image load_image(const FileName& name) { return to_image(load_picture(name)); }

void require_encodable(const FileName& name, std::int64_t width, std::int64_t height) {
  const PictureEncoding encoding = encoding_of(name);
  const bool too_long = encoding == PictureEncoding::jpeg && std::max(width, height) > kLongestJpegSide;
  const bool too_large = encoding != PictureEncoding::png && width * height > kMostEncodedPixels;
  if (too_long || too_large)
    throw Error(ErrorCode::unsupported, name.text() + ": a picture of " + std::to_string(width) + "x" +
                                            std::to_string(height) +
                                            " pixels is too large for this format; write a .png file");
}

void write_image(const FileName& name, const Image& image) {
  require_encodable(name, image.width, image.height);
  EncodedFile file;
  if (!encode(image, encoding_of(name), file))
    throw Error(ErrorCode::out_of_memory, name.text() + ": there is no memory to encode the image");
  write_file(name, file);
}

}  // namespace vellum::io
