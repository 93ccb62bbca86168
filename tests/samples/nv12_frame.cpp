#include "nv12_frame.hpp"

#include <cmath>

namespace vellum::samples {

std::vector<std::uint8_t> nv12_frame(const io::Image& photo, int width, int height, int left, int top) {
  struct Yuv {
    double y = 16, u = 128, v = 128;
  };
  const auto at = [&](int x, int y) {
    if (x < left || y < top || x >= left + photo.width || y >= top + photo.height) return Yuv{};
    const std::uint8_t* rgb = photo.pixel(x - left, y - top);
    const double luma = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
    return Yuv{16 + luma * 219 / 255, 128 + (rgb[2] - luma) / 1.772 * 224 / 255,
               128 + (rgb[0] - luma) / 1.402 * 224 / 255};
  };
  const auto byte = [](double value) { return static_cast<std::uint8_t>(std::lround(value)); };
  std::vector<std::uint8_t> bytes;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) bytes.push_back(byte(at(x, y).y));
  for (int y = 0; y < height; y += 2) {
    for (int x = 0; x < width; x += 2) {
      double u = 0, v = 0;
      for (const Yuv& pixel : {at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)}) {
        u += pixel.u / 4;
        v += pixel.v / 4;
      }
      bytes.push_back(byte(u));
      bytes.push_back(byte(v));
    }
  }
  return bytes;
}

}  // namespace vellum::samples
