#include "images_fixture.hpp"

#include <cstring>
#include <random>
#include <string>

#include "device_options.hpp"
#include "small_model.hpp"

namespace vellum::test::images {
namespace {

constexpr vk::ImageSubresourceRange kWholeColor{Aspect::eColor, 0, 1, 0, 1};

Device adopt(const VulkanApp& app) { return Device::adopt(app.device(), adopt_options()); }

}  // namespace

Plane whole(const AppImage& image) { return {Aspect::eColor, 0, image.width, image.height}; }

vk::BufferImageCopy region(const Plane& plane) {
  return {plane.offset, 0, 0, {plane.aspect, 0, 0, 1}, {0, 0, 0}, {plane.width, plane.height, 1}};
}

void transition(const vk::raii::CommandBuffer& commands, const AppImage& image, const ImageUse& before,
                const ImageUse& after) {
  const vk::ImageMemoryBarrier barrier(before.access, after.access, before.layout, after.layout,
                                       VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED, *image.image,
                                       kWholeColor);
  commands.pipelineBarrier(before.stages, after.stages, {}, {}, {}, barrier);
}

void make_visible_to_host(const vk::raii::CommandBuffer& commands, Stage stage, Access written) {
  commands.pipelineBarrier(stage, Stage::eHost, {}, vk::MemoryBarrier(written, Access::eHostRead), {}, {});
}

void upload(const vk::raii::CommandBuffer& commands, const AppBuffer& from, const AppImage& image,
            std::span<const Plane> planes, Layout to) {
  const ImageUse written{Layout::eTransferDstOptimal, Stage::eTransfer, Access::eTransferWrite};
  transition(commands, image, {Layout::eUndefined, Stage::eTopOfPipe}, written);
  for (const Plane& plane : planes)
    commands.copyBufferToImage(*from.buffer, *image.image, Layout::eTransferDstOptimal, region(plane));
  transition(commands, image, written, {to, Stage::eComputeShader, Access::eShaderRead});
}

void download(const vk::raii::CommandBuffer& commands, const AppImage& image, const AppBuffer& to) {
  transition(commands, image, {Layout::eGeneral, Stage::eComputeShader, Access::eShaderWrite},
             {Layout::eTransferSrcOptimal, Stage::eTransfer, Access::eTransferRead});
  commands.copyImageToBuffer(*image.image, Layout::eTransferSrcOptimal, *to.buffer, region(whole(image)));
  make_visible_to_host(commands, Stage::eTransfer, Access::eTransferWrite);
}

void make_general(const vk::raii::CommandBuffer& commands, const AppImage& image) {
  transition(commands, image, {Layout::eUndefined, Stage::eTopOfPipe},
             {Layout::eGeneral, Stage::eComputeShader, Access::eShaderWrite});
}

ImageBinding binding(std::string_view name, const AppImage& image, Layout layout) {
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

std::span<const std::byte> bytes_of(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.data()), tensor.byte_size()};
}

FrameInput camera(FrameFormat format) {
  FrameInput frame{.format = format, .width = kWidth, .height = kHeight, .matrix = ColorMatrix::bt709};
  frame.transform = FrameTransform::rotated({30, 20}, {25, 19}, 0.3, {11, 9});
  return frame;
}

FrameInput whole_frame() {
  FrameInput frame{.format = FrameFormat::rgba8, .width = kWidth, .height = kHeight};
  frame.mean.fill(127.5f);
  frame.scale.fill(1 / 127.5f);
  frame.transform = FrameTransform::stretch({kWidth, kHeight}, {kWidth, kHeight});
  return frame;
}

OnnxModel pixels_model(int64_t channels) {
  OnnxModel model;
  model.input("x", {1, channels, 9, 11}).node("Abs", {"x"}, {"y"}, {}, "abs").output("y");
  return model;
}

OnnxModel filter_model(int64_t channels) {
  OnnxModel model;
  model.input("x", {1, 3, kHeight, kWidth})
      .initializer("w", random_tensor({channels, 3, 3, 3}, 1))
      .node("Conv", {"x", "w"}, {"a"}, attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}), "conv")
      .node("Sigmoid", {"a"}, {"y"}, {}, "sigmoid")
      .output("y");
  return model;
}

Images::Images(const AppOptions& options)
    : app(vulkan.get_instance_proc_addr(), options), device(adopt(app)) {}

AppBuffer Images::host_buffer(uint64_t bytes) {
  return app.make_buffer(
      bytes, vk::BufferUsageFlagBits::eTransferSrc | vk::BufferUsageFlagBits::eTransferDst |
                 vk::BufferUsageFlagBits::eStorageBuffer | vk::BufferUsageFlagBits::eStorageTexelBuffer);
}

bool Images::on_swiftshader_device() const {
  return device.info().name.find("SwiftShader") != std::string::npos;
}

Tensor Images::run_from_image(Session& session, const AppImage& image, std::span<const std::byte> bytes,
                              std::span<const Plane> planes, Layout layout) {
  const AppBuffer from = host_buffer(bytes.size()), to = host_buffer(session.output_buffer("y").bytes);
  std::memcpy(from.data, bytes.data(), bytes.size());
  const ImageBinding in = binding("x", image, layout);
  const BufferBinding out{"y", *to.buffer, 0, to.bytes};
  const vk::raii::CommandBuffer commands = app.make_commands();
  commands.begin(vk::CommandBufferBeginInfo());
  upload(commands, from, image, planes, layout);
  const Recording recording = session.record(*commands, {.outputs = {&out, 1}, .input_images = {&in, 1}});
  make_visible_to_host(commands, Stage::eComputeShader, Access::eShaderWrite);
  commands.end();
  app.submit_and_wait(commands);
  Tensor y(session.outputs()[0].dtype, session.outputs()[0].shape);
  std::memcpy(y.mutable_data(), to.data, y.byte_size());
  return y;
}

Tensor Images::run_from_image(Session& session, vk::Format format, std::span<const std::byte> bytes,
                              Layout layout) {
  const AppImage image = app.make_image(format, kWidth, kHeight, Usage::eSampled | Usage::eTransferDst);
  const Plane plane = whole(image);
  return run_from_image(session, image, bytes, {&plane, 1}, layout);
}

}  // namespace vellum::test::images
