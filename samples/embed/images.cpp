#include "embed/images.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "common/sample.hpp"
#include "embed/engine.hpp"
#include "vellum/frame.hpp"
#include "vellum/picture.hpp"

namespace vellum::samples {
namespace {

using Access = vk::AccessFlagBits;
using Layout = vk::ImageLayout;
using Stage = vk::PipelineStageFlagBits;
using Usage = vk::ImageUsageFlagBits;

constexpr uint32_t kWidth = 640, kHeight = 360;
const vk::ImageSubresourceRange kWhole(vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1);
const vk::ImageSubresourceLayers kPixels(vk::ImageAspectFlagBits::eColor, 0, 0, 1);
constexpr std::array<uint8_t, 4> kSky{40, 90, 200, 255};
constexpr std::array<uint8_t, 4> kGround{120, 160, 60, 255};
constexpr int kHorizon = kHeight * 2 / 3;

// RGBA of 8 bits on the device.
struct Picture {
  Picture(const Engine& engine, vk::ImageUsageFlags usage) {
    vk::ImageCreateInfo info({}, vk::ImageType::e2D, vk::Format::eR8G8B8A8Unorm, {kWidth, kHeight, 1}, 1, 1);
    image = vk::raii::Image(engine.device(), info.setUsage(usage));
    const vk::MemoryRequirements needed = image.getMemoryRequirements();
    uint32_t type = 0;
    while (!(needed.memoryTypeBits >> type & 1)) ++type;
    memory = vk::raii::DeviceMemory(engine.device(), {needed.size, type});
    image.bindMemory(*memory, 0);
  }
  ImageBinding binding(std::string_view name, Layout layout) const {
    return {.name = name,
            .image = *image,
            .format = VK_FORMAT_R8G8B8A8_UNORM,
            .width = kWidth,
            .height = kHeight,
            .layout = static_cast<VkImageLayout>(layout)};
  }
  void transition(const vk::raii::CommandBuffer& commands, Layout from, Layout to, Stage before,
                  vk::AccessFlags written, Stage after, vk::AccessFlags used) const {
    commands.pipelineBarrier(before, after, {}, {}, {},
                             vk::ImageMemoryBarrier(written, used, from, to, VK_QUEUE_FAMILY_IGNORED,
                                                    VK_QUEUE_FAMILY_IGNORED, *image, kWhole));
  }

  vk::raii::DeviceMemory memory{nullptr};
  vk::raii::Image image{nullptr};  // destroyed first
};

vk::ClearColorValue color(const std::array<uint8_t, 4>& rgba) {
  return vk::ClearColorValue(
      std::array{rgba[0] / 255.0f, rgba[1] / 255.0f, rgba[2] / 255.0f, rgba[3] / 255.0f});
}

// Stands for a renderer: a sky, and the ground of another image.
void render(const vk::raii::CommandBuffer& commands, const Picture& ground, const Picture& scene) {
  for (const Picture* picture : {&ground, &scene}) {
    picture->transition(commands, Layout::eUndefined, Layout::eTransferDstOptimal, Stage::eComputeShader, {},
                        Stage::eTransfer, Access::eTransferWrite);
    commands.clearColorImage(*picture->image, Layout::eTransferDstOptimal,
                             color(picture == &ground ? kGround : kSky), kWhole);
  }
  ground.transition(commands, Layout::eTransferDstOptimal, Layout::eTransferSrcOptimal, Stage::eTransfer,
                    Access::eTransferWrite, Stage::eTransfer, Access::eTransferRead);
  scene.transition(commands, Layout::eTransferDstOptimal, Layout::eTransferDstOptimal, Stage::eTransfer,
                   Access::eTransferWrite, Stage::eTransfer, Access::eTransferWrite);
  const vk::Offset3D horizon(0, kHorizon, 0);
  commands.copyImage(*ground.image, Layout::eTransferSrcOptimal, *scene.image, Layout::eTransferDstOptimal,
                     vk::ImageCopy(kPixels, horizon, kPixels, horizon, {kWidth, kHeight - kHorizon, 1}));
  scene.transition(commands, Layout::eTransferDstOptimal, Layout::eShaderReadOnlyOptimal, Stage::eTransfer,
                   Access::eTransferWrite, Stage::eComputeShader, Access::eShaderRead);
}

Tensor rendered_bytes() {
  Tensor bytes(DType::u8, {int64_t{kWidth} * kHeight * 4});
  for (size_t i = 0; i < bytes.byte_size(); ++i)
    bytes.mutable_as<uint8_t>()[i] = (i / 4 < size_t{kWidth} * kHorizon ? kSky : kGround)[i % 4];
  return bytes;
}

Model with_images(const std::string& file) {
  const Model model = load_model(file);
  const TensorInfo& input = model.inputs()[0];
  if (model.inputs().size() != 1 || input.shape.size() != 4)
    throw Error(ErrorCode::unsupported, file + ": the sample wants a model with one image as its input");
  const bool channels_last = input.shape[3] == 3;
  FrameInput frame{.width = kWidth, .height = kHeight};
  frame.scale.fill(1 / 255.0f);
  frame.transform = FrameTransform::stretch({kWidth, kHeight}, {double(input.shape[channels_last ? 2 : 3]),
                                                                double(input.shape[channels_last ? 1 : 2])});
  PictureOutput picture{.palette = {{0, 177, 64, 255}, {0, 177, 64, 0}}, .over = input.name};
  return with_picture(with_frames(model, input.name, frame), model.outputs()[0].name, picture);
}

}  // namespace

void run_images(const std::string& file, uint32_t count) {
  const Engine engine;
  std::printf("the engine's device: %s\n", engine.vellum().info().name.c_str());
  Session session(engine.vellum(), with_images(file));
  const std::string in = session.inputs()[0].name, out = session.outputs()[0].name;
  const Picture ground(engine, Usage::eTransferDst | Usage::eTransferSrc),
      scene(engine, Usage::eTransferDst | Usage::eSampled),
      shown(engine, Usage::eStorage | Usage::eTransferSrc);
  SharedBuffer screen(engine, "screen",
                      {DType::u8, kWidth * kHeight * 4, 1, VK_BUFFER_USAGE_TRANSFER_DST_BIT});

  const vk::raii::CommandBuffer commands = engine.make_commands();
  commands.begin(vk::CommandBufferBeginInfo());
  render(commands, ground, scene);
  shown.transition(commands, Layout::eUndefined, Layout::eGeneral, Stage::eTransfer, {},
                   Stage::eComputeShader, Access::eShaderWrite);
  const ImageBinding frame = scene.binding(in, Layout::eShaderReadOnlyOptimal),
                     result = shown.binding(out, Layout::eGeneral);
  const Recording recording =
      session.record(*commands, {.input_images = {&frame, 1}, .output_images = {&result, 1}});
  shown.transition(commands, Layout::eGeneral, Layout::eTransferSrcOptimal, Stage::eComputeShader,
                   Access::eShaderWrite, Stage::eTransfer, Access::eTransferRead);
  commands.copyImageToBuffer(*shown.image, Layout::eTransferSrcOptimal, *screen.buffer,
                             vk::BufferImageCopy(0, 0, 0, kPixels, {0, 0, 0}, {kWidth, kHeight, 1}));
  commands.pipelineBarrier(Stage::eTransfer, Stage::eHost, {},
                           vk::MemoryBarrier(Access::eTransferWrite, Access::eHostRead), {}, {});
  commands.end();

  const vk::raii::Fence done(engine.device(), vk::FenceCreateInfo());
  const auto start = std::chrono::steady_clock::now();
  for (uint32_t i = 0; i < count; ++i) {
    engine.queue().submit(vk::SubmitInfo({}, {}, *commands), *done);
    if (engine.device().waitForFences(*done, VK_TRUE, UINT64_MAX) != vk::Result::eSuccess)
      throw Error(ErrorCode::device_lost, "the device does not finish a frame");
    engine.device().resetFences(*done);
  }
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  std::printf("%u frames, %.2f ms each\n", count, taken.count() / count);

  const Tensor want = session.run({{in, rendered_bytes()}}).at(out);
  const bool same =
      want.byte_size() == screen.bytes && std::memcmp(want.data(), screen.data, screen.bytes) == 0;
  std::printf("the image has %s bits of Session::run()\n", same ? "the" : "NOT the");
  if (!same) throw Error(ErrorCode::internal, "recorded and run commands differ");
}

}  // namespace vellum::samples
