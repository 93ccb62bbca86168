// Frames of Y, U and V against libyuv, which applications convert cameras' frames with.
#include <gtest/gtest.h>
#include <libyuv/convert_argb.h>

#include <array>
#include <cmath>
#include <random>

#include "public_interface.hpp"
#include "vellum/frame.hpp"

namespace vellum::test {
namespace {

constexpr int kWidth = 198, kHeight = 121;
constexpr size_t kPixels = size_t{kWidth} * kHeight;

// Levels of 0..255. libyuv computes with coefficients in 64ths and rounds to bytes. On x86-64 they are 2 at
// most, which is less than those of U for blue in the limited ranges.
constexpr double kRounding = 1.5, kLibyuvMost = 2;

struct Conversion {
  ColorMatrix matrix;
  ColorRange range;
  const libyuv::YuvConstants& constants;
};

// libyuv's pixels are blue, green, red, alpha.
std::vector<uint8_t> converted_by_libyuv(FrameFormat format, const uint8_t* bytes,
                                         const libyuv::YuvConstants& constants) {
  constexpr int chroma_width = (kWidth + 1) / 2, chroma_height = (kHeight + 1) / 2;
  const uint8_t* chroma = bytes + kWidth * kHeight;
  std::vector<uint8_t> pixels(4 * kPixels);
  const int failed = format == FrameFormat::nv12
                         ? libyuv::NV12ToARGBMatrix(bytes, kWidth, chroma, 2 * chroma_width, pixels.data(),
                                                    4 * kWidth, &constants, kWidth, kHeight)
                         : libyuv::I420ToARGBMatrix(bytes, kWidth, chroma, chroma_width,
                                                    chroma + chroma_width * chroma_height, chroma_width,
                                                    pixels.data(), 4 * kWidth, &constants, kWidth, kHeight);
  if (failed != 0) throw std::runtime_error("libyuv does not convert the frame");
  return pixels;
}

TEST(FramesAndLibyuv, PixelsAreWithinTheRoundingOfLibyuv) {
  const Conversion conversions[] = {
      {ColorMatrix::bt601, ColorRange::limited, libyuv::kYuvI601Constants},
      {ColorMatrix::bt601, ColorRange::full, libyuv::kYuvJPEGConstants},
      {ColorMatrix::bt709, ColorRange::limited, libyuv::kYuvH709Constants},
      {ColorMatrix::bt709, ColorRange::full, libyuv::kYuvF709Constants},
  };
  OnnxModel network;
  network.input("image", {1, 3, kHeight, kWidth}).node("Relu", {"image"}, {"y"}).output("y");
  const Model model = load(network);
  const Device device = Device::open(device_options());
  for (const FrameFormat format : {FrameFormat::nv12, FrameFormat::i420})
    for (const Conversion& conversion : conversions) {
      FrameInput input{.format = format,
                       .width = kWidth,
                       .height = kHeight,
                       .matrix = conversion.matrix,
                       .range = conversion.range};
      input.transform = FrameTransform::stretch({kWidth, kHeight}, {kWidth, kHeight});
      Tensor frame(DType::u8, {static_cast<int64_t>(input.bytes())});
      std::mt19937 random(3);
      for (uint8_t& byte : frame.mutable_as<uint8_t>()) byte = static_cast<uint8_t>(random());
      Session session(device, with_frames(model, "image", input));
      const Tensor got = session.run({{"image", frame}}).at("y");
      const std::vector<uint8_t> want =
          converted_by_libyuv(format, frame.as<uint8_t>().data(), conversion.constants);
      std::array<double, 3> worst{}, sum{};
      for (size_t i = 0; i < kPixels; ++i)
        for (size_t c = 0; c < 3; ++c) {
          const double difference = std::abs(got.as<float>()[c * kPixels + i] - want[4 * i + 2 - c]);
          worst[c] = std::max(worst[c], difference);
          sum[c] += difference;
        }
      SCOPED_TRACE(std::to_string(static_cast<int>(format)) + ", " +
                   std::to_string(static_cast<int>(conversion.matrix)) + ", " +
                   std::to_string(static_cast<int>(conversion.range)));
      const double blue = conversion.range == ColorRange::full      ? 0
                          : conversion.matrix == ColorMatrix::bt601 ? 2.0172 - kLibyuvMost
                                                                    : 2.1124 - kLibyuvMost;
      EXPECT_LE(worst[0], kRounding);
      EXPECT_LE(worst[1], kRounding);
      EXPECT_LE(worst[2], kRounding + 128 * blue);
      for (size_t c = 0; c < 2; ++c) EXPECT_LE(sum[c] / static_cast<double>(kPixels), 0.5);
    }
}

}  // namespace
}  // namespace vellum::test
