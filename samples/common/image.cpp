#include "common/image.hpp"

#include <limits>
#include <memory>
#include <string>

#include "common/files.hpp"
#include "vellum/error.hpp"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_MAX_DIMENSIONS 32768
#include <stb/stb_image.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

namespace vellum::samples {
namespace {

constexpr std::int64_t kMostPixels = std::int64_t{1} << 26;

}  // namespace

Image make_image(int width, int height) {
  if (width < 1 || height < 1) {
    throw Error(ErrorCode::invalid_argument, "an image of " + std::to_string(width) + "x" +
                                                 std::to_string(height) + " pixels has no area");
  }
  return {width, height, std::vector<std::uint8_t>(std::size_t{3} * width * height)};
}

Image load_image(const FileName& name) {
  const std::vector<std::uint8_t> file = read_file(name);
  if (file.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Error(ErrorCode::unsupported, name.text() + ": an image file of more than 2 GiB");
  }
  int width = 0;
  int height = 0;
  int channels = 0;
  // Before decoding, which takes several times the pixels: a picture of one colour is a small file.
  const int length = static_cast<int>(file.size());
  if (stbi_info_from_memory(file.data(), length, &width, &height, &channels) &&
      std::int64_t{width} * height > kMostPixels) {
    throw Error(ErrorCode::unsupported, name.text() + ": a picture of " + std::to_string(width) + "x" +
                                            std::to_string(height) + " pixels; at most " +
                                            std::to_string(kMostPixels) + " are read");
  }
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(file.data(), length, &width, &height, &channels, 3), stbi_image_free);
  if (!pixels) {
    throw Error(ErrorCode::invalid_argument,
                name.text() + ": not a readable PNG or JPEG image (" + stbi_failure_reason() + ")");
  }
  Image image = make_image(width, height);
  image.rgb.assign(pixels.get(), pixels.get() + image.rgb.size());
  return image;
}

void write_png(const FileName& name, const Image& image) {
  std::vector<std::uint8_t> file;
  const auto append = [](void* context, void* data, int size) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    auto& target = *static_cast<std::vector<std::uint8_t>*>(context);
    target.insert(target.end(), bytes, bytes + size);
  };
  if (!stbi_write_png_to_func(append, &file, image.width, image.height, 3, image.rgb.data(),
                              3 * image.width)) {
    throw Error(ErrorCode::out_of_memory, name.text() + ": there is no memory to encode the image");
  }
  write_file(name, file);
}

}  // namespace vellum::samples
