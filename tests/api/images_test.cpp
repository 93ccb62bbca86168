// The application's images as frames and as outputs of recorded inferences.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "device_options.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "vellum/frame.hpp"
#include "vellum/picture.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

using Access = vk::AccessFlagBits;
using Aspect = vk::ImageAspectFlagBits;
using Layout = vk::ImageLayout;
using Stage = vk::PipelineStageFlagBits;
using Usage = vk::ImageUsageFlagBits;

constexpr uint32_t kWidth = 64, kHeight = 36;

// One plane of an image in a buffer, without padding.
struct Plane {
  vk::ImageAspectFlags aspect;
  uint64_t offset;
  uint32_t width, height;
};

void transition(const vk::raii::CommandBuffer& commands, const AppImage& image, Layout from, Layout to,
                vk::PipelineStageFlags before, vk::AccessFlags written, vk::PipelineStageFlags after,
                vk::AccessFlags used) {
  const vk::ImageMemoryBarrier barrier(written, used, from, to, VK_QUEUE_FAMILY_IGNORED,
                                       VK_QUEUE_FAMILY_IGNORED, *image.image, {Aspect::eColor, 0, 1, 0, 1});
  commands.pipelineBarrier(before, after, {}, {}, {}, barrier);
}

vk::BufferImageCopy region(const Plane& plane) {
  return {plane.offset, 0, 0, {plane.aspect, 0, 0, 1}, {0, 0, 0}, {plane.width, plane.height, 1}};
}

Plane whole(const AppImage& image) { return {Aspect::eColor, 0, image.width, image.height}; }

// From a buffer to the image, in the layout `to` for compute shaders afterwards.
void upload(const vk::raii::CommandBuffer& commands, const AppBuffer& from, const AppImage& image,
            std::span<const Plane> planes, Layout to) {
  transition(commands, image, Layout::eUndefined, Layout::eTransferDstOptimal, Stage::eTopOfPipe, {},
             Stage::eTransfer, Access::eTransferWrite);
  for (const Plane& plane : planes)
    commands.copyBufferToImage(*from.buffer, *image.image, Layout::eTransferDstOptimal, region(plane));
  transition(commands, image, Layout::eTransferDstOptimal, to, Stage::eTransfer, Access::eTransferWrite,
             Stage::eComputeShader, Access::eShaderRead);
}

// From the image that a compute shader wrote to a buffer for the host.
void download(const vk::raii::CommandBuffer& commands, const AppImage& image, const AppBuffer& to) {
  transition(commands, image, Layout::eGeneral, Layout::eTransferSrcOptimal, Stage::eComputeShader,
             Access::eShaderWrite, Stage::eTransfer, Access::eTransferRead);
  commands.copyImageToBuffer(*image.image, Layout::eTransferSrcOptimal, *to.buffer, region(whole(image)));
  commands.pipelineBarrier(Stage::eTransfer, Stage::eHost, {},
                           vk::MemoryBarrier(Access::eTransferWrite, Access::eHostRead), {}, {});
}

void make_general(const vk::raii::CommandBuffer& commands, const AppImage& image) {
  transition(commands, image, Layout::eUndefined, Layout::eGeneral, Stage::eTopOfPipe, {},
             Stage::eComputeShader, Access::eShaderWrite);
}

ImageBinding binding(std::string_view name, const AppImage& image, Layout layout = Layout::eGeneral) {
  return {.name = name,
          .image = *image.image,
          .format = static_cast<VkFormat>(image.format),
          .width = image.width,
          .height = image.height,
          .layout = static_cast<VkImageLayout>(layout)};
}

Tensor random_bytes(uint64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor tensor(DType::u8, {static_cast<int64_t>(count)});
  for (uint8_t& byte : tensor.mutable_as<uint8_t>()) byte = static_cast<uint8_t>(random());
  return tensor;
}

FrameInput camera(FrameFormat format) {
  FrameInput frame{.format = format, .width = kWidth, .height = kHeight, .matrix = ColorMatrix::bt709};
  frame.transform = FrameTransform::rotated({30, 20}, {25, 19}, 0.3, {11, 9});
  return frame;
}

// A network whose output is its input, unchanged, in 0..255.
OnnxModel pixels_model() {
  OnnxModel model;
  model.input("x", {1, 3, 9, 11}).node("Abs", {"x"}, {"y"}, {}, "abs").output("y");
  return model;
}

// A filter of 3x3 over the picture of `shape`, in 0..1.
OnnxModel filter_model(int64_t channels) {
  OnnxModel model;
  model.input("x", {1, 3, 36, 64})
      .initializer("w", random_tensor({channels, 3, 3, 3}, 1))
      .node("Conv", {"x", "w"}, {"a"}, attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}), "conv")
      .node("Sigmoid", {"a"}, {"y"}, {}, "sigmoid")
      .output("y");
  return model;
}

// The frame as the network's whole input.
FrameInput whole_frame() {
  FrameInput frame{.format = FrameFormat::rgba8, .width = kWidth, .height = kHeight};
  frame.mean.fill(127.5f);
  frame.scale.fill(1 / 127.5f);
  frame.transform = FrameTransform::stretch({kWidth, kHeight}, {kWidth, kHeight});
  return frame;
}

class Images : public testing::Test {
 protected:
  explicit Images(const AppOptions& options = {})
      : app(vulkan.get_instance_proc_addr(), options), device(adopt()) {}

  Device adopt() {
    DeviceOptions options = device_options();
    options.validation = false;  // the application's instance has it
    return Device::adopt(app.device(), options);
  }
  AppBuffer host_buffer(uint64_t bytes) {
    return app.make_buffer(
        bytes, vk::BufferUsageFlagBits::eTransferSrc | vk::BufferUsageFlagBits::eTransferDst |
                   vk::BufferUsageFlagBits::eStorageBuffer | vk::BufferUsageFlagBits::eStorageTexelBuffer);
  }

  // One inference of a model with the input x and the output y, from an image of these bytes.
  Tensor run_from_image(Session& session, const AppImage& image, std::span<const std::byte> bytes,
                        std::span<const Plane> planes, Layout layout) {
    const AppBuffer from = host_buffer(bytes.size()), to = host_buffer(session.output_buffer("y").bytes);
    std::memcpy(from.data, bytes.data(), bytes.size());
    const ImageBinding in = binding("x", image, layout);
    const BufferBinding out{"y", *to.buffer, 0, to.bytes};
    const vk::raii::CommandBuffer commands = app.make_commands();
    commands.begin(vk::CommandBufferBeginInfo());
    upload(commands, from, image, planes, layout);
    const Recording recording = session.record(*commands, {.outputs = {&out, 1}, .input_images = {&in, 1}});
    commands.pipelineBarrier(Stage::eComputeShader, Stage::eHost, {},
                             vk::MemoryBarrier(Access::eShaderWrite, Access::eHostRead), {}, {});
    commands.end();
    app.submit_and_wait(commands);
    Tensor y(session.outputs()[0].dtype, session.outputs()[0].shape);
    std::memcpy(y.mutable_data(), to.data, y.byte_size());
    return y;
  }

  Interposer vulkan;
  VulkanApp app;
  Device device;
};

std::span<const std::byte> bytes_of(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.data()), tensor.byte_size()};
}

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
      const AppImage image = app.make_image(format, kWidth, kHeight, Usage::eSampled | Usage::eTransferDst);
      const Plane plane = whole(image);
      const Tensor got = run_from_image(session, image, bytes_of(bytes), {&plane, 1}, layout);
      EXPECT_TRUE(same_bits(got, session.run({{"x", bytes}}).at("y"))) << name(frame_format);
    }
}

// The frame's alpha, and colours of an image with alpha where the frame has none.
TEST_F(Images, AlphaIsReadForFramesThatHaveIt) {
  OnnxModel model;
  model.input("x", {1, 4, 9, 11}).node("Abs", {"x"}, {"y"}, {}, "abs").output("y");
  for (const FrameFormat format : {FrameFormat::rgba8, FrameFormat::rgb8}) {
    FrameInput frame = camera(format);
    Session session(device, with_frames(load(model), "x", frame));
    frame.format = FrameFormat::rgba8;
    const Tensor bytes = random_bytes(frame.bytes(), 5);
    Tensor input = bytes;
    if (format == FrameFormat::rgb8) {
      input = Tensor(DType::u8, {kWidth * kHeight * 3});
      for (size_t i = 0; i < kWidth * kHeight * 3; ++i)
        input.mutable_as<uint8_t>()[i] = bytes.as<uint8_t>()[i / 3 * 4 + i % 3];
    }
    const AppImage image =
        app.make_image(vk::Format::eR8G8B8A8Unorm, kWidth, kHeight, Usage::eSampled | Usage::eTransferDst);
    const Plane plane = whole(image);
    const Tensor got = run_from_image(session, image, bytes_of(bytes), {&plane, 1}, Layout::eGeneral);
    EXPECT_TRUE(same_bits(got, session.run({{"x", input}}).at("y"))) << name(format);
  }
}

// Both dispatches that read the frame read its image.
TEST_F(Images, APictureLiesOverTheImageOfItsFrame) {
  const FrameInput frame = camera(FrameFormat::rgba8);
  const PictureOutput over{.colors = PictureColors::rgb, .high = 510, .over = "x"};
  Session session(device, with_picture(with_frames(load(pixels_model()), "x", frame), "y", over));
  const Tensor bytes = random_bytes(frame.bytes(), 3);
  const AppImage image =
      app.make_image(vk::Format::eR8G8B8A8Unorm, kWidth, kHeight, Usage::eSampled | Usage::eTransferDst);
  const Plane plane = whole(image);
  const Tensor got = run_from_image(session, image, bytes_of(bytes), {&plane, 1}, Layout::eGeneral);
  EXPECT_TRUE(same_bits(got, session.run({{"x", bytes}}).at("y")));
}

uint16_t half_of(float value) {  // in 0..1
  if (value == 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);
  if (exponent < -13) return static_cast<uint16_t>(std::lround(std::ldexp(value, 24)));
  return static_cast<uint16_t>(((exponent + 13) << 10) + std::lround(std::ldexp(fraction, 11)));
}

// Within 1/255 of the values of the bytes that the floats are 1/255 of: floats far nearer.
TEST_F(Images, FormatsOfFloatsHaveTheirValues) {
  const FrameInput frame = camera(FrameFormat::rgba8);
  Session session(device, with_frames(load(pixels_model()), "x", frame));
  const Tensor bytes = random_bytes(frame.bytes(), 9);
  const Tensor want = session.run({{"x", bytes}}).at("y");
  std::vector<float> floats;
  std::vector<uint16_t> halves;
  for (const uint8_t byte : bytes.as<uint8_t>()) {
    floats.push_back(static_cast<float>(byte) / 255);
    halves.push_back(half_of(floats.back()));
  }
  const auto difference = [&](vk::Format format, std::span<const std::byte> values) {
    const AppImage image = app.make_image(format, kWidth, kHeight, Usage::eSampled | Usage::eTransferDst);
    const Plane plane = whole(image);
    const Tensor got = run_from_image(session, image, values, {&plane, 1}, Layout::eGeneral);
    double most = 0;
    for (size_t i = 0; i < got.as<float>().size(); ++i)
      most = std::max(most, std::abs(double{got.as<float>()[i]} - want.as<float>()[i]));
    return most;
  };
  EXPECT_LT(difference(vk::Format::eR32G32B32A32Sfloat, std::as_bytes(std::span(floats))), 1e-3);
  EXPECT_LT(difference(vk::Format::eR16G16B16A16Sfloat, std::as_bytes(std::span(halves))), 0.07);
}

// The frame as SwiftShader reads it, whose sampler of planes makes n * 128 / 32767 of a byte instead of n /
// 255.
Tensor as_read_by_swiftshader(const Tensor& frame) {
  Tensor read = frame;
  for (uint8_t& byte : read.mutable_as<uint8_t>())
    byte = static_cast<uint8_t>(std::lround(byte * 128.0 / 32767 * 255));
  return read;
}

// Planes of Y, U and V, on devices that read them, have the bits of the same planes in a buffer, after what
// the driver's sampler makes of each byte; without that, colours that differ by at most four.
TEST_F(Images, PlanesOfACameraHaveTheBitsOfWhatTheSamplerReads) {
  const bool has_conversion =
      app.physical_handle()
          .getFeatures2<vk::PhysicalDeviceFeatures2, vk::PhysicalDeviceSamplerYcbcrConversionFeatures>()
          .get<vk::PhysicalDeviceSamplerYcbcrConversionFeatures>()
          .samplerYcbcrConversion;
  constexpr uint32_t pixels = kWidth * kHeight;
  for (const FrameFormat frame_format : {FrameFormat::nv12, FrameFormat::nv21, FrameFormat::i420}) {
    const bool three = frame_format == FrameFormat::i420;
    const vk::Format format = three ? vk::Format::eG8B8R83Plane420Unorm : vk::Format::eG8B8R82Plane420Unorm;
    const FrameInput frame = camera(frame_format);
    Session session(device, with_frames(load(small_model()), "x", frame));
    if (!has_conversion) {
      ImageBinding in{
          .name = "x", .format = static_cast<VkFormat>(format), .width = kWidth, .height = kHeight};
      // Refused before it is looked at. NOLINTNEXTLINE(performance-no-int-to-ptr)
      in.image = reinterpret_cast<VkImage>(uintptr_t{1});
      EXPECT_VELLUM_ERROR(session.bind({.input_images = {&in, 1}}), ErrorCode::unsupported, "input 'x'",
                          "samplerYcbcrConversion", "Plane420");
      continue;
    }
    const Tensor bytes = random_bytes(frame.bytes(), 8);
    std::vector<Plane> planes{{Aspect::ePlane0, 0, kWidth, kHeight},
                              {Aspect::ePlane1, pixels, kWidth / 2, kHeight / 2}};
    if (three) planes.push_back({Aspect::ePlane2, pixels + pixels / 4, kWidth / 2, kHeight / 2});
    const AppImage image = app.make_image(format, kWidth, kHeight, Usage::eSampled | Usage::eTransferDst);
    const bool swiftshader = device.info().name.find("SwiftShader") != std::string::npos;
    const Tensor want = session.run({{"x", swiftshader ? as_read_by_swiftshader(bytes) : bytes}}).at("y");
    for (const Layout layout : {Layout::eGeneral, Layout::eShaderReadOnlyOptimal})
      EXPECT_TRUE(same_bits(run_from_image(session, image, bytes_of(bytes), planes, layout), want))
          << name(frame_format);

    FrameInput plain = frame;
    plain.mean.fill(0);
    plain.scale.fill(1);
    Session colours(device, with_frames(load(pixels_model()), "x", plain));
    const Tensor in_buffer = colours.run({{"x", bytes}}).at("y");
    const Tensor in_image = run_from_image(colours, image, bytes_of(bytes), planes, Layout::eGeneral);
    const auto promised = in_buffer.as<float>(), read = in_image.as<float>();
    float most = 0;
    for (size_t i = 0; i < read.size(); ++i) most = std::max(most, std::abs(read[i] - promised[i]));
    EXPECT_LE(most, swiftshader ? 4.0f : 0.0f) << name(frame_format);
  }
}

class OutputImages : public Images {
 protected:
  static AppOptions all_formats() {
    return {.own_structures = true, .adjust = [](AppFeatures& features, auto&) {
              features.core10.features.shaderStorageImageExtendedFormats = VK_TRUE;
              features.core10.features.shaderStorageImageWriteWithoutFormat = VK_TRUE;
            }};
  }
  OutputImages() : Images(all_formats()) {}

  std::vector<std::byte> run_to_image(Session& session, const Tensor& input, vk::Format format,
                                      uint64_t pixel) {
    const AppBuffer from = host_buffer(input.byte_size()), to = host_buffer(pixel * kWidth * kHeight);
    std::memcpy(from.data, input.data(), input.byte_size());
    const AppImage image = app.make_image(format, kWidth, kHeight, Usage::eStorage | Usage::eTransferSrc);
    const BufferBinding in{"x", *from.buffer, 0, from.bytes};
    const ImageBinding out = binding("y", image);
    const vk::raii::CommandBuffer commands = app.make_commands();
    commands.begin(vk::CommandBufferBeginInfo());
    make_general(commands, image);
    const Recording recording = session.record(*commands, {.inputs = {&in, 1}, .output_images = {&out, 1}});
    download(commands, image, to);
    commands.end();
    app.submit_and_wait(commands);
    return {to.data, to.data + to.bytes};
  }
};

TEST_F(OutputImages, HaveTheValuesOfTheOutput) {
  for (const int64_t channels : {1, 3, 4}) {
    Session session(device, with_frames(load(filter_model(channels)), "x", whole_frame()));
    const Tensor input = random_bytes(whole_frame().bytes(), 3);
    const Tensor want = session.run({{"x", input}}).at("y");
    const auto value = [&](size_t pixel, int64_t c) {
      if (c >= channels) return c == 3 ? 1.0f : 0.0f;
      return want.as<float>()[static_cast<size_t>(c) * kWidth * kHeight + pixel];
    };
    const std::vector<std::byte> floats = run_to_image(session, input, vk::Format::eR32G32B32A32Sfloat, 16),
                                 red = run_to_image(session, input, vk::Format::eR32Sfloat, 4),
                                 bytes = run_to_image(session, input, vk::Format::eR8G8B8A8Unorm, 4),
                                 grey = run_to_image(session, input, vk::Format::eR8Unorm, 1),
                                 swapped = run_to_image(session, input, vk::Format::eB8G8R8A8Unorm, 4);
    run_to_image(session, input, vk::Format::eR16G16B16A16Sfloat, 8);
    for (size_t i = 0; i < size_t{kWidth} * kHeight; ++i) {
      float stored[4], only = 0;
      std::memcpy(stored, &floats[16 * i], sizeof stored);
      std::memcpy(&only, &red[4 * i], sizeof only);
      ASSERT_EQ(only, value(i, 0));
      ASSERT_NEAR(static_cast<int>(grey[i]), 255 * value(i, 0), 0.51);
      for (int64_t c = 0; c < 4; ++c) {
        const auto at = static_cast<size_t>(c);
        ASSERT_EQ(stored[at], value(i, c)) << "channel " << c << " of " << channels;
        ASSERT_NEAR(static_cast<int>(bytes[4 * i + at]), 255 * value(i, c), 0.51);
        ASSERT_EQ(bytes[4 * i + at], swapped[4 * i + (c == 3 ? 3 : 2 - at)]);
      }
    }
  }
}

TEST_F(OutputImages, BytesAreStoredAsTheyAre) {
  OnnxModel model;
  const float one = 1;
  const uint8_t zero = 0;
  Tensor zero_point(DType::u8, {});
  zero_point.mutable_as<uint8_t>()[0] = zero;
  model.input("x", {1, 36, 64, 4})
      .initializer("scale", Tensor::f32({}, {&one, 1}))
      .initializer("zero", zero_point)
      .node("QuantizeLinear", {"x", "scale", "zero"}, {"y"}, {}, "quantise")
      .output("y");
  FrameInput frame = whole_frame();
  frame.mean.fill(0);
  frame.scale.fill(1);
  Session session(device, with_frames(load(model), "x", frame));
  const Tensor input = random_bytes(frame.bytes(), 3);
  const Tensor want = session.run({{"x", input}}).at("y");
  const std::vector<std::byte> got = run_to_image(session, input, vk::Format::eR8G8B8A8Unorm, 4);
  EXPECT_EQ(std::memcmp(got.data(), want.data(), want.byte_size()), 0);
  EXPECT_EQ(std::memcmp(got.data(), input.data(), input.byte_size()), 0) << "the frame is the picture";
}

// A renderer's frames: drawn to an image, seen by the network, whose map is drawn to the screen. Nothing but
// the application's submits happens, and its two images hold everything.
TEST_F(OutputImages, ThreeHundredFramesFromARendererToAScreen) {
  Session session(device, with_frames(load(filter_model(4)), "x", whole_frame()));
  const AppImage scene = app.make_image(vk::Format::eR8G8B8A8Unorm, kWidth, kHeight,
                                        Usage::eSampled | Usage::eTransferDst | Usage::eTransferSrc),
                 map = app.make_image(vk::Format::eR32G32B32A32Sfloat, kWidth, kHeight,
                                      Usage::eStorage | Usage::eTransferSrc),
                 screen = app.make_image(vk::Format::eR32G32B32A32Sfloat, kWidth, kHeight,
                                         Usage::eTransferDst | Usage::eTransferSrc);
  const AppBuffer pixels = host_buffer(16 * kWidth * kHeight), drawn = host_buffer(4 * kWidth * kHeight);
  const ImageBinding in = binding("x", scene, Layout::eShaderReadOnlyOptimal), out = binding("y", map);
  const Recording recording = session.bind({.input_images = {&in, 1}, .output_images = {&out, 1}});
  const vk::raii::CommandBuffer commands = app.make_commands();
  const vk::ImageSubresourceLayers layers(Aspect::eColor, 0, 0, 1);
  const std::array<vk::Offset3D, 2> corners{vk::Offset3D(0, 0, 0), vk::Offset3D(kWidth, kHeight, 1)};
  const uint32_t maps = vulkan.maps(), submits = vulkan.submits(), waits = vulkan.waits(),
                 made = vulkan.objects_made();
  std::vector<std::byte> last_frame;
  for (uint32_t frame = 0; frame < 300; ++frame) {
    commands.reset();
    commands.begin(vk::CommandBufferBeginInfo(vk::CommandBufferUsageFlagBits::eOneTimeSubmit));
    // The scene: a colour that changes, and a moving square copied within the image would need a pipeline of
    // its own; here the frame's own picture is copied over it where it moves.
    transition(commands, scene, Layout::eUndefined, Layout::eTransferDstOptimal, Stage::eComputeShader, {},
               Stage::eTransfer, Access::eTransferWrite);
    const float shade = static_cast<float>(frame % 100) / 100;
    commands.clearColorImage(*scene.image, Layout::eTransferDstOptimal,
                             vk::ClearColorValue(std::array{shade, 1 - shade, 0.5f, 1.0f}),
                             vk::ImageSubresourceRange(Aspect::eColor, 0, 1, 0, 1));
    transition(commands, scene, Layout::eTransferDstOptimal, Layout::eShaderReadOnlyOptimal, Stage::eTransfer,
               Access::eTransferWrite, Stage::eComputeShader, Access::eShaderRead);
    transition(commands, map, Layout::eUndefined, Layout::eGeneral, Stage::eTransfer, {},
               Stage::eComputeShader, Access::eShaderWrite);
    recording.record(*commands);
    transition(commands, map, Layout::eGeneral, Layout::eTransferSrcOptimal, Stage::eComputeShader,
               Access::eShaderWrite, Stage::eTransfer, Access::eTransferRead);
    transition(commands, screen, Layout::eUndefined, Layout::eTransferDstOptimal, Stage::eTransfer, {},
               Stage::eTransfer, Access::eTransferWrite);
    commands.blitImage(*map.image, Layout::eTransferSrcOptimal, *screen.image, Layout::eTransferDstOptimal,
                       vk::ImageBlit(layers, corners, layers, corners), vk::Filter::eNearest);
    if (frame % 50 == 49) {
      transition(commands, screen, Layout::eTransferDstOptimal, Layout::eTransferSrcOptimal, Stage::eTransfer,
                 Access::eTransferWrite, Stage::eTransfer, Access::eTransferRead);
      transition(commands, scene, Layout::eShaderReadOnlyOptimal, Layout::eTransferSrcOptimal,
                 Stage::eComputeShader, {}, Stage::eTransfer, Access::eTransferRead);
      commands.copyImageToBuffer(*screen.image, Layout::eTransferSrcOptimal, *pixels.buffer,
                                 region(whole(screen)));
      commands.copyImageToBuffer(*scene.image, Layout::eTransferSrcOptimal, *drawn.buffer,
                                 region(whole(scene)));
      commands.pipelineBarrier(Stage::eTransfer, Stage::eHost, {},
                               vk::MemoryBarrier(Access::eTransferWrite, Access::eHostRead), {}, {});
    }
    commands.end();
    app.submit_and_wait(commands);
    if (frame % 50 == 49) {
      std::vector<std::byte> now(pixels.data, pixels.data + pixels.bytes);
      EXPECT_NE(now, last_frame) << "the scene moves";
      last_frame = std::move(now);
    }
  }
  EXPECT_EQ(vulkan.maps(), maps);
  EXPECT_EQ(vulkan.submits(), submits);
  EXPECT_EQ(vulkan.waits(), waits);
  EXPECT_EQ(vulkan.objects_made(), made);
  EXPECT_EQ(vulkan.instances_made() + vulkan.devices_made(), 0u);
  Tensor scene_bytes(DType::u8, {static_cast<int64_t>(drawn.bytes)});
  std::memcpy(scene_bytes.mutable_data(), drawn.data, drawn.bytes);
  const Tensor want = session.run({{"x", scene_bytes}}).at("y");
  for (size_t i = 0; i < size_t{kWidth} * kHeight; ++i)
    for (size_t c = 0; c < 4; ++c) {
      float stored = 0;
      std::memcpy(&stored, pixels.data + 16 * i + 4 * c, sizeof stored);
      ASSERT_EQ(stored, want.as<float>()[c * kWidth * kHeight + i]);
    }
}

TEST_F(Images, RefusesWhatTheyCannotBe) {
  Session session(device, with_frames(load(filter_model(1)), "x", whole_frame())),
      plain(device, load(filter_model(1)));
  const AppImage frame = app.make_image(vk::Format::eR8G8B8A8Unorm, kWidth, kHeight, Usage::eSampled),
                 map = app.make_image(vk::Format::eR32Sfloat, kWidth, kHeight, Usage::eStorage);
  const ImageBinding in = binding("x", frame), out = binding("y", map);
  const auto refused = [&](ErrorCode code, const char* text, Session& with, std::vector<ImageBinding> inputs,
                           std::vector<ImageBinding> outputs) {
    EXPECT_VELLUM_ERROR(with.bind({.input_images = inputs, .output_images = outputs}), code, text);
  };
  const auto changed = [](ImageBinding image, auto&& change) {
    change(image);
    return image;
  };
  const ErrorCode invalid = ErrorCode::invalid_argument, unsupported = ErrorCode::unsupported;
  EXPECT_TRUE(session.bind({.input_images = {&in, 1}, .output_images = {&out, 1}}).valid());
  refused(unsupported, "input 'x': it takes no image: only frames do", plain, {in}, {});
  refused(invalid, "input 'x': the image is null", session, {changed(in, [](auto& i) { i.image = nullptr; })},
          {});
  refused(invalid, "the image is 32 x 36, the frame 64 x 36", session,
          {changed(in, [](auto& i) { i.width = 32; })}, {});
  refused(invalid, "neither GENERAL nor SHADER_READ_ONLY_OPTIMAL", session,
          {changed(in, [](auto& i) { i.layout = VK_IMAGE_LAYOUT_UNDEFINED; })}, {});
  refused(unsupported, "R8G8B8A8Uint", session,
          {changed(in, [](auto& i) { i.format = VK_FORMAT_R8G8B8A8_UINT; })}, {});
  refused(unsupported, "D32Sfloat", session, {changed(in, [](auto& i) { i.format = VK_FORMAT_D32_SFLOAT; })},
          {});
  refused(unsupported, "Undefined", session, {changed(in, [](auto& i) { i.format = VK_FORMAT_UNDEFINED; })},
          {});
  refused(invalid, "input 'x' is bound twice", session, {in, in}, {});
  refused(invalid, "output 'y': the layout of the image is not GENERAL", session, {in},
          {changed(out, [](auto& i) { i.layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL; })});
  refused(invalid, "has 64 x 36 pixels, the image 36 x 64", session, {in}, {changed(out, [](auto& i) {
            i.width = 36;
            i.height = 64;
          })});
  refused(unsupported, "outputs are not written in it", session, {in},
          {changed(out, [](auto& i) { i.format = VK_FORMAT_R16G16B16A16_UNORM; })});
  refused(unsupported, "shaderStorageImageExtendedFormats", session, {in},
          {changed(out, [](auto& i) { i.format = VK_FORMAT_R8_UNORM; })});
  refused(unsupported, "shaderStorageImageWriteWithoutFormat", session, {in},
          {changed(out, [](auto& i) { i.format = VK_FORMAT_B8G8R8A8_UNORM; })});
  Session small(device, load(small_model()));
  const AppBuffer x = host_buffer(4096);
  const BufferBinding whole_x{"x", *x.buffer, 0, x.bytes};
  EXPECT_VELLUM_ERROR(small.bind({.inputs = {&whole_x, 1}, .output_images = {&out, 1}}), invalid,
                      "output 'y'", "has 5 x 4 pixels");
}

}  // namespace
}  // namespace vellum::test
