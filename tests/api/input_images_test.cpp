// The application's images as frames of recorded inferences.
#include <algorithm>
#include <cmath>
#include <vector>

#include "images_fixture.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "vellum/picture.hpp"

namespace vellum::test::images {
namespace {

TEST_F(Images, FormatsOfBytesHaveTheBitsOfTheSameBytesInABuffer) {
  const std::pair<FrameFormat, vk::Format> formats[] = {
      {FrameFormat::rgba8, vk::Format::eR8G8B8A8Unorm},
      {FrameFormat::bgra8, vk::Format::eB8G8R8A8Unorm},
      {FrameFormat::grey8, vk::Format::eR8Unorm},
  };
  for (const auto& [frame_format, format] : formats)
    for (const Layout layout : {Layout::eGeneral, Layout::eShaderReadOnlyOptimal}) {
      FrameInput frame = camera(frame_format);
      if (layout == Layout::eGeneral) frame.filter = FrameFilter::area;
      Session session(device, with_frames(load(small_model()), "x", frame));
      const Tensor bytes = random_bytes(frame.bytes(), 7);
      const Tensor got = run_from_image(session, format, bytes_of(bytes), layout);
      EXPECT_TRUE(same_bits(got, session.run({{"x", bytes}}).at("y"))) << name(frame_format);
    }
}

// The pixels of a frame with alpha, without it.
Tensor without_alpha(const Tensor& rgba) {
  Tensor rgb(DType::u8, {kWidth * kHeight * 3});
  for (size_t i = 0; i < kWidth * kHeight * 3; ++i)
    rgb.mutable_as<uint8_t>()[i] = rgba.as<uint8_t>()[i / 3 * 4 + i % 3];
  return rgb;
}

TEST_F(Images, AlphaIsReadForFramesThatHaveIt) {
  Session session(device, with_frames(load(pixels_model(4)), "x", camera(FrameFormat::rgba8)));
  const Tensor bytes = random_bytes(kWidth * kHeight * 4, 5);
  const Tensor got = run_from_image(session, vk::Format::eR8G8B8A8Unorm, bytes_of(bytes));
  EXPECT_TRUE(same_bits(got, session.run({{"x", bytes}}).at("y")));
}

TEST_F(Images, AlphaIsIgnoredForFramesWithoutIt) {
  Session session(device, with_frames(load(pixels_model(4)), "x", camera(FrameFormat::rgb8)));
  const Tensor bytes = random_bytes(kWidth * kHeight * 4, 5);
  const Tensor got = run_from_image(session, vk::Format::eR8G8B8A8Unorm, bytes_of(bytes));
  EXPECT_TRUE(same_bits(got, session.run({{"x", without_alpha(bytes)}}).at("y")));
}

// Both dispatches that read the frame read its image.
TEST_F(Images, APictureIsBlendedOverTheImageOfItsFrame) {
  const FrameInput frame = camera(FrameFormat::rgba8);
  const PictureOutput over{.colors = PictureColors::rgb, .high = 510, .over = "x"};
  Session session(device, with_picture(with_frames(load(pixels_model()), "x", frame), "y", over));
  const Tensor bytes = random_bytes(frame.bytes(), 3);
  const Tensor got = run_from_image(session, vk::Format::eR8G8B8A8Unorm, bytes_of(bytes));
  EXPECT_TRUE(same_bits(got, session.run({{"x", bytes}}).at("y")));
}

uint16_t half_of(float value) {  // in 0..1
  if (value == 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);
  if (exponent < -13) return static_cast<uint16_t>(std::lround(std::ldexp(value, 24)));
  return static_cast<uint16_t>(((exponent + 13) << 10) + std::lround(std::ldexp(fraction, 11)));
}

double largest_difference(const Tensor& a, const Tensor& b) {
  double most = 0;
  for (size_t i = 0; i < a.as<float>().size(); ++i)
    most = std::max(most, std::abs(double{a.as<float>()[i]} - b.as<float>()[i]));
  return most;
}

// Colours of 0..255 from texels of the frame's bytes / 255.
class FloatImages : public Images {
 protected:
  template <typename Texel>
  double difference(vk::Format format, Texel (*texel)(float)) {
    const FrameInput frame = camera(FrameFormat::rgba8);
    Session session(device, with_frames(load(pixels_model()), "x", frame));
    const Tensor bytes = random_bytes(frame.bytes(), 9);
    std::vector<Texel> texels;
    for (const uint8_t byte : bytes.as<uint8_t>()) texels.push_back(texel(static_cast<float>(byte) / 255));
    const Tensor got = run_from_image(session, format, std::as_bytes(std::span(texels)));
    return largest_difference(got, session.run({{"x", bytes}}).at("y"));
  }
};

TEST_F(FloatImages, FloatsHaveTheirValues) {
  const auto itself = [](float value) { return value; };
  EXPECT_LT(difference<float>(vk::Format::eR32G32B32A32Sfloat, itself), 1e-3);
}

TEST_F(FloatImages, HalvesHaveTheirValues) {
  EXPECT_LT(difference<uint16_t>(vk::Format::eR16G16B16A16Sfloat, half_of), 0.07);
}

// The frame as SwiftShader reads it, whose sampler of planes makes n * 128 / 32767 of a byte instead of n /
// 255.
Tensor as_read_by_swiftshader(const Tensor& frame) {
  Tensor read = frame;
  for (uint8_t& byte : read.mutable_as<uint8_t>())
    byte = static_cast<uint8_t>(std::lround(byte * 128.0 / 32767 * 255));
  return read;
}

class CameraPlanes : public Images {
 protected:
  bool has_conversion() const {
    return app.physical_handle()
        .getFeatures2<vk::PhysicalDeviceFeatures2, vk::PhysicalDeviceSamplerYcbcrConversionFeatures>()
        .get<vk::PhysicalDeviceSamplerYcbcrConversionFeatures>()
        .samplerYcbcrConversion;
  }
  AppImage image_of(FrameFormat format) {
    return app.make_image(image_format(format), kWidth, kHeight, Usage::eSampled | Usage::eTransferDst);
  }

  static vk::Format image_format(FrameFormat format) {
    return format == FrameFormat::i420 ? vk::Format::eG8B8R83Plane420Unorm
                                       : vk::Format::eG8B8R82Plane420Unorm;
  }
  static std::vector<Plane> planes_of(FrameFormat format) {
    constexpr uint32_t pixels = kWidth * kHeight;
    std::vector<Plane> planes{{Aspect::ePlane0, 0, kWidth, kHeight},
                              {Aspect::ePlane1, pixels, kWidth / 2, kHeight / 2}};
    if (format == FrameFormat::i420)
      planes.push_back({Aspect::ePlane2, pixels + pixels / 4, kWidth / 2, kHeight / 2});
    return planes;
  }
};

constexpr FrameFormat kPlanarFormats[] = {FrameFormat::nv12, FrameFormat::nv21, FrameFormat::i420};

TEST_F(CameraPlanes, AreRefusedWithoutSamplerConversion) {
  if (has_conversion()) GTEST_SKIP() << "the device converts";
  for (const FrameFormat format : kPlanarFormats) {
    Session session(device, with_frames(load(small_model()), "x", camera(format)));
    ImageBinding in{.name = "x", .format = static_cast<VkFormat>(image_format(format))};
    in.width = kWidth, in.height = kHeight;
    // Refused before it is looked at. NOLINTNEXTLINE(performance-no-int-to-ptr)
    in.image = reinterpret_cast<VkImage>(uintptr_t{1});
    EXPECT_VELLUM_ERROR(session.bind({.input_images = {&in, 1}}), ErrorCode::unsupported, "input 'x'",
                        "samplerYcbcrConversion", "Plane420");
  }
}

// After what the driver's sampler makes of each byte.
TEST_F(CameraPlanes, HaveTheBitsOfTheSamePlanesInABuffer) {
  if (!has_conversion()) GTEST_SKIP() << "the device does not convert";
  for (const FrameFormat format : kPlanarFormats) {
    const FrameInput frame = camera(format);
    Session session(device, with_frames(load(small_model()), "x", frame));
    const Tensor bytes = random_bytes(frame.bytes(), 8);
    const AppImage image = image_of(format);
    const Tensor read = on_swiftshader_device() ? as_read_by_swiftshader(bytes) : bytes;
    const Tensor want = session.run({{"x", read}}).at("y");
    for (const Layout layout : {Layout::eGeneral, Layout::eShaderReadOnlyOptimal})
      EXPECT_TRUE(same_bits(run_from_image(session, image, bytes_of(bytes), planes_of(format), layout), want))
          << name(format);
  }
}

TEST_F(CameraPlanes, HaveColoursWithinTheSamplersRounding) {
  if (!has_conversion()) GTEST_SKIP() << "the device does not convert";
  for (const FrameFormat format : kPlanarFormats) {
    const FrameInput frame = camera(format);
    Session session(device, with_frames(load(pixels_model()), "x", frame));
    const Tensor bytes = random_bytes(frame.bytes(), 8);
    const Tensor got =
        run_from_image(session, image_of(format), bytes_of(bytes), planes_of(format), Layout::eGeneral);
    EXPECT_LE(largest_difference(got, session.run({{"x", bytes}}).at("y")),
              on_swiftshader_device() ? 4.0 : 0.0)
        << name(format);
  }
}

}  // namespace
}  // namespace vellum::test::images
