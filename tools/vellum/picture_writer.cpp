#include "picture_writer.hpp"

#include <algorithm>

#include "io/image.hpp"
#include "io/picture_format.hpp"
#include "png_writer.hpp"
#include "vellum/error.hpp"

namespace vellum::cli {
namespace {

class WholeWriter : public PictureWriter {
 public:
  WholeWriter(const io::FileName& file, uint32_t width, uint32_t height)
      : file_(file), image_(io::make_image(static_cast<int>(width), static_cast<int>(height))) {}

  void add_row(std::span<const uint8_t> row) override {
    std::ranges::copy(row.first(size_t{3} * static_cast<size_t>(image_.width)), image_.pixel(0, row_++));
  }
  void finish() override { io::write_image(file_, image_); }

 private:
  const io::FileName file_;
  io::Image image_;
  int row_ = 0;
};

}  // namespace

std::unique_ptr<PictureWriter> make_picture_writer(const io::FileName& file, uint32_t width, uint32_t height,
                                                   uint32_t channels) {
  io::require_encodable(file, width, height);
  if (io::encoding_of(file) == io::PictureEncoding::png)
    return std::make_unique<PngWriter>(file, width, height, channels);
  if (channels != 3)
    throw Error(ErrorCode::unsupported,
                file.text() + ": the network's picture has alpha, which a .png file alone keeps");
  return std::make_unique<WholeWriter>(file, width, height);
}

}  // namespace vellum::cli
