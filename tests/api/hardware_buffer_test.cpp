// Android's hardware buffers as inputs, on a driver that is made to offer them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "api/impl.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "support/temp_folder.hpp"
#include "vellum/external.hpp"
#include "vellum/frame.hpp"
#include "vellum/pack.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/context_impl.hpp"
#include "vulkan/hardware_buffers.hpp"

namespace vellum::test {
namespace {

constexpr ExternalHandleType kHardwareBuffers = ExternalHandleType::android_hardware_buffer;

class ImportedHardwareBuffers : public testing::Test {
 protected:
  ImportedHardwareBuffers() : device(open()) {}

  Device open() const {
    Device opened = Device::open(device_options());
    gpu::ContextOptions context = impl(opened)->context->options();
    context.get_instance_proc_addr = layer.get_instance_proc_addr();
    impl(opened)->context = gpu::Context::create(context);
    return opened;
  }
  static ExternalMemory memory(FakeHardwareBuffer& buffer) {
    return {.type = kHardwareBuffers, .handle = &buffer};
  }
  static VkImageCreateInfo image_info(uint32_t width, uint32_t height) {
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.extent = {width, height, 1};
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    return info;
  }

  HardwareBuffers layer;
  Device device;
};

TEST_F(ImportedHardwareBuffers, BlobsAreInputs) {
  const std::vector<ExternalSupport> all = external_support(device);
  const auto support = std::ranges::find(all, kHardwareBuffers, &ExternalSupport::type);
  ASSERT_NE(support, all.end());
  EXPECT_TRUE(support->imports_buffers);
  EXPECT_FALSE(support->exports_buffers);
  Session session(device, load(small_model()));
  const BufferLayout in = session.input_buffer("x"), out = session.output_buffer("y");
  FakeHardwareBuffer blob{.bytes = 8192};
  const ExternalBuffer y = ExternalBuffer::make(device, out.bytes, out.usage, ExternalHandleType::opaque_fd);
  {
    const ExternalBuffer x = ExternalBuffer::import(device, memory(blob), in.bytes, in.usage);
    EXPECT_EQ(blob.imports, 1u);
    EXPECT_TRUE(blob.was_dedicated);
    EXPECT_EQ(x.data(), nullptr);
    const Tensor input = random_tensor({1, 3, 9, 11}, 1);
    std::memcpy(blob.data, input.data(), input.byte_size());
    const BufferBinding bound_x{"x", x.handle(), 0, in.bytes}, bound_y{"y", y.handle(), 0, out.bytes};
    session.bind({&bound_x, 1}, {&bound_y, 1}).run();
    const Tensor want = session.run({{"x", input}}).at("y");
    ASSERT_NE(y.data(), nullptr);
    EXPECT_EQ(std::memcmp(y.data(), want.data(), want.byte_size()), 0);
  }
  EXPECT_EQ(blob.imports, 0u);
  FakeHardwareBuffer none;
  EXPECT_VELLUM_ERROR(ExternalBuffer::import(device, memory(none), in.bytes, in.usage),
                      ErrorCode::invalid_argument, "importing memory");
  FakeHardwareBuffer small{.bytes = 64};
  EXPECT_VELLUM_ERROR(ExternalBuffer::import(device, memory(small), in.bytes, in.usage),
                      ErrorCode::invalid_argument, "it has 64 bytes");
  EXPECT_VELLUM_ERROR(ExternalBuffer::make(device, 64, in.usage, kHardwareBuffers), ErrorCode::unsupported,
                      "exports no buffers as android_hardware_buffer");
}

TEST_F(ImportedHardwareBuffers, ImagesHaveTheFormatOfTheBuffer) {
  FakeHardwareBuffer frame{.bytes = 64 << 10, .format = VK_FORMAT_R8G8B8A8_UNORM};
  {
    const ExternalImage image = ExternalImage::import(device, memory(frame), image_info(16, 12));
    EXPECT_EQ(image.format(), VK_FORMAT_R8G8B8A8_UNORM);
    EXPECT_TRUE(frame.was_dedicated);
    const FrameInput input{.format = FrameFormat::rgba8,
                           .width = 16,
                           .height = 12,
                           .transform = FrameTransform::stretch({16, 12}, {11, 9})};
    Session session(device, with_frames(load(small_model()), "x", input));
    const ImageBinding bound{
        .name = "x", .image = image.handle(), .format = image.format(), .width = 16, .height = 12};
    EXPECT_TRUE(session.bind({.input_images = {&bound, 1}}).valid());
  }
  EXPECT_EQ(frame.imports, 0u);
  VkImageCreateInfo other = image_info(16, 12);
  other.format = VK_FORMAT_R8_UNORM;
  EXPECT_VELLUM_ERROR(ExternalImage::import(device, memory(frame), other), ErrorCode::invalid_argument,
                      "R8G8B8A8Unorm, not R8Unorm");
  FakeHardwareBuffer blob{.bytes = 64 << 10},
      colors{.bytes = 64 << 10, .external_format = 7, .has_colors = true};
  EXPECT_VELLUM_ERROR(ExternalImage::import(device, memory(blob), image_info(16, 12)), ErrorCode::unsupported,
                      "holds no image");
  EXPECT_VELLUM_ERROR(ExternalImage::import(device, memory(colors), image_info(16, 12)),
                      ErrorCode::unsupported, "of the driver's own, 7: it does not hold Y, U and V");
  EXPECT_VELLUM_ERROR(ExternalImage::import(device, {.type = kHardwareBuffers}, image_info(16, 12)),
                      ErrorCode::invalid_argument, "null");
}

// Copies a frame's bytes to an image, which is in the layout GENERAL before and after.
class Upload {
 public:
  Upload(const Device& device, const FrameInput& frame) : context_(impl(device)->context), frame_(frame) {}

  void operator()(VkImage image, const Tensor& bytes, bool is_new) const {
    gpu::Buffer staging = gpu::make_buffer(context_, bytes.byte_size(), gpu::MemoryKind::upload,
                                           gpu::MemoryCategory::staging, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    std::memcpy(staging.data(), bytes.data(), bytes.byte_size());
    if (frame_.format == FrameFormat::nv21)  // the image has U before V, whatever its bytes in memory are
      for (size_t i = size_t{frame_.width} * frame_.height; i + 1 < bytes.byte_size(); i += 2)
        std::swap(staging.data()[i], staging.data()[i + 1]);
    staging.flush();
    gpu::CommandBuffer commands(context_);
    commands.begin(true);
    const auto& vulkan = *context_->impl().device.getDispatcher();
    const auto move = [&](VkImageLayout from, VkImageLayout to) {
      VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
      barrier.srcAccessMask = barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
      barrier.oldLayout = from;
      barrier.newLayout = to;
      barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
      barrier.image = image;
      barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
      vulkan.vkCmdPipelineBarrier(commands.handle(), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                  VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr, 0, nullptr, 1, &barrier);
    };
    move(is_new ? VK_IMAGE_LAYOUT_UNDEFINED : VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    const auto copy = [&](VkDeviceSize offset, VkImageAspectFlags aspect, uint32_t width, uint32_t height) {
      const VkBufferImageCopy region{offset, 0, 0, {aspect, 0, 0, 1}, {}, {width, height, 1}};
      vulkan.vkCmdCopyBufferToImage(commands.handle(), staging.handle(), image,
                                    VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
    };
    if (frame_.format == FrameFormat::rgba8) {
      copy(0, VK_IMAGE_ASPECT_COLOR_BIT, frame_.width, frame_.height);
    } else {
      copy(0, VK_IMAGE_ASPECT_PLANE_0_BIT, frame_.width, frame_.height);
      copy(VkDeviceSize{frame_.width} * frame_.height, VK_IMAGE_ASPECT_PLANE_1_BIT, frame_.width / 2,
           frame_.height / 2);
    }
    move(VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_GENERAL);
    commands.end();
    gpu::submit_and_wait(*context_, commands);
  }

 private:
  std::shared_ptr<gpu::Context> context_;
  FrameInput frame_;
};

Tensor frame_bytes(const FrameInput& frame, uint32_t seed) {
  Tensor tensor(DType::u8, {static_cast<int64_t>(frame.bytes())});
  for (uint8_t& byte : tensor.mutable_as<uint8_t>())
    byte = static_cast<uint8_t>((seed = seed * 1664525 + 9) >> 24);
  return tensor;
}

class HardwareFrameTest : public ImportedHardwareBuffers, public testing::WithParamInterface<FrameFormat> {
 protected:
  FrameInput frame{.format = GetParam(), .width = 16, .height = 12, .matrix = ColorMatrix::bt709};
  Tensor transform = FrameTransform::rotated({7, 6}, {9, 8}, 0.4, {11, 9}).tensor();
  Upload upload{device, frame};

  // Whether the device can read the frame's images; lavapipe has no conversions.
  bool reads_images() const {
    return frame.format == FrameFormat::rgba8 || impl(device)->context->impl().physical.ycbcr;
  }
  // The frame as the device's sampler reads it: SwiftShader's of planes makes n * 128 / 32767 of a byte
  // instead of n / 255.
  Tensor as_read(const Tensor& bytes) const {
    if (frame.format == FrameFormat::rgba8 || device.info().name.find("SwiftShader") == std::string::npos)
      return bytes;
    Tensor read(DType::u8, bytes.shape());
    for (size_t i = 0; i < bytes.byte_size(); ++i)
      read.mutable_as<uint8_t>()[i] =
          static_cast<uint8_t>(std::lround(bytes.as<uint8_t>()[i] * 128.0 / 32767 * 255));
    return read;
  }
  // That a camera fills: in a format of Vulkan's, or of the driver's own.
  FakeHardwareBuffer camera_buffer(const Tensor& bytes) const {
    FakeHardwareBuffer buffer{.bytes = 64 << 10};
    if (frame.format == FrameFormat::rgba8)
      buffer.format = VK_FORMAT_R8G8B8A8_UNORM;
    else
      buffer.external_format = 0x105;
    buffer.fill = [this, bytes](VkImage image) { upload(image, bytes, true); };
    return buffer;
  }
};

TEST_P(HardwareFrameTest, AreReadWhereTheyAreAndImportedOnce) {
  Session session(device, with_frames(load(small_model()), "x", frame));
  const Tensor first = frame_bytes(frame, 1), second = frame_bytes(frame, 2), third = frame_bytes(frame, 3);
  const auto expected = [&](const Tensor& bytes) {
    return session.run({{"x", as_read(bytes)}, {"x.transform", transform}}).at("y");
  };
  const Tensor want_first = expected(first), want_second = expected(second), want_third = expected(third);
  FakeHardwareBuffer a = camera_buffer(first), b = camera_buffer(second), c = camera_buffer(third);
  if (!reads_images()) {
    HardwareFrames frames(session, "x");
    EXPECT_VELLUM_ERROR(frames.run(&a, 16, 12), ErrorCode::unsupported,
                        "of the driver's own, 261: its feature samplerYcbcrConversion is missing");
    return;
  }
  {
    HardwareFrames frames(session, "x", 2);
    for (int round = 0; round < 2; ++round) {
      frames.run(&a, 16, 12);
      EXPECT_TRUE(same_bits(session.output("y"), want_first));
      frames.run(&b, 16, 12);
      EXPECT_TRUE(same_bits(session.output("y"), want_second));
    }
    EXPECT_EQ(a.imported, 1u);
    EXPECT_EQ(b.imported, 1u);
    EXPECT_GE(layer.foreign_transfers(), 4u);  // acquired and released
    // The camera fills the buffer again.
    upload(a.image, third, false);
    frames.run(&a, 16, 12);
    EXPECT_TRUE(same_bits(session.output("y"), want_third));
    EXPECT_EQ(a.imported, 1u);
    // A third buffer takes the place of the one that was used before all others.
    frames.run(&c, 16, 12);
    EXPECT_TRUE(same_bits(session.output("y"), want_third));
    EXPECT_EQ(frames.imported(), 2u);
    EXPECT_EQ(a.imports + c.imports, 2u);
    EXPECT_EQ(b.imports, 0u);
    // Frames in bytes work beside it, and do not make the imports stale.
    EXPECT_TRUE(same_bits(expected(second), want_second));
    frames.run(&c, 16, 12);
    EXPECT_TRUE(same_bits(session.output("y"), want_third));
    EXPECT_EQ(c.imported, 1u);
    EXPECT_VELLUM_ERROR(frames.run(&a, 12, 16), ErrorCode::invalid_argument, "has 16 x 12 pixels");
    b.fill = {};
    EXPECT_VELLUM_ERROR(frames.run(&b, 12, 16), ErrorCode::invalid_argument, "12 x 16");
    EXPECT_VELLUM_ERROR(frames.run(nullptr, 16, 12), ErrorCode::invalid_argument, "null");
    frames.forget();
    EXPECT_EQ(a.imports + b.imports + c.imports, 0u);
    frames.run(&a, 16, 12);
    EXPECT_EQ(a.imported, 2u);
  }
  EXPECT_EQ(a.imports, 0u);
}

// As on Android, where the library compiles no shaders.
TEST_P(HardwareFrameTest, NeedNoCompilerWithABundleForImages) {
  if (!reads_images()) GTEST_SKIP() << "the device has no samplerYcbcrConversion";
  const TempFolder folder;
  small_model().save(folder / "model.onnx");
  const std::vector<PackFrame> frames{{"x", frame}};
  impl(device)->compiles_shaders = false;
  const Tensor bytes = frame_bytes(frame, 4);
  FakeHardwareBuffer buffer = camera_buffer(bytes);
  for (const bool images : {true, false}) {
    pack_with_variants(folder / "model.onnx", folder / "model.vellum", Caps::android_baseline_2022(), {},
                       {.frames = frames, .images = images});
    const Device fresh = open();
    impl(fresh)->compiles_shaders = false;
    Session session(fresh, with_frames(Model::load(folder / "model.vellum"), "x", frame));
    buffer.fill = [&](VkImage image) { Upload(fresh, frame)(image, bytes, true); };
    const Tensor want = session.run({{"x", as_read(bytes)}, {"x.transform", transform}}).at("y");
    HardwareFrames(session, "x").run(&buffer, 16, 12);
    EXPECT_TRUE(same_bits(session.output("y"), want));
    EXPECT_EQ(impl(fresh)->context->pipelines().shader_counts().compiled == 0, images);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, HardwareFrameTest,
                         testing::Values(FrameFormat::rgba8, FrameFormat::nv12, FrameFormat::nv21),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST_F(ImportedHardwareBuffers, SessionsRunRecordingsWithTheRestOnTheHost) {
  Session session(device, load(small_model()));
  const BufferLayout in = session.input_buffer("x"), out = session.output_buffer("y");
  constexpr auto fd = ExternalHandleType::opaque_fd;
  const ExternalBuffer x = ExternalBuffer::make(device, in.bytes, in.usage, fd),
                       y = ExternalBuffer::make(device, out.bytes, out.usage, fd);
  ASSERT_NE(x.data(), nullptr);
  const Tensor input = random_tensor({1, 3, 9, 11}, 1);
  std::memcpy(x.data(), input.data(), input.byte_size());
  const Tensor want = session.run({{"x", input}}).at("y"), other = random_tensor({1, 3, 9, 11}, 2);
  const BufferBinding bound_x{"x", x.handle(), 0, in.bytes}, bound_y{"y", y.handle(), 0, out.bytes};

  session.run({{"x", other}});
  const Recording from_x = session.bind({.inputs = {&bound_x, 1}, .rest_on_host = true});
  session.run(from_x);
  EXPECT_TRUE(same_bits(session.output("y"), want));

  session.set_input("x", input);
  const Recording to_y = session.bind({.outputs = {&bound_y, 1}, .rest_on_host = true});
  session.run(to_y);
  EXPECT_EQ(std::memcmp(y.data(), want.data(), want.byte_size()), 0);
  EXPECT_VELLUM_ERROR(session.output("y"), ErrorCode::invalid_argument, "in the memory that it was bound to");
  session.run();
  EXPECT_TRUE(same_bits(session.output("y"), want));

  Session unset(device, load(small_model()));
  const Recording no_input = unset.bind({.outputs = {&bound_y, 1}, .rest_on_host = true});
  EXPECT_VELLUM_ERROR(unset.run(no_input), ErrorCode::invalid_argument, "'x' was neither set nor bound");
  EXPECT_VELLUM_ERROR(unset.run(to_y), ErrorCode::invalid_argument, "bind again");
  EXPECT_VELLUM_ERROR(unset.run(Recording()), ErrorCode::invalid_argument, "nothing is bound");
}

TEST_F(ImportedHardwareBuffers, FramesAreRefusedByName) {
  Session session(device, load(small_model()));
  EXPECT_VELLUM_ERROR(HardwareFrames(session, "z"), ErrorCode::not_found, "'z'");
  EXPECT_VELLUM_ERROR(HardwareFrames(session, "x", 0), ErrorCode::invalid_argument, "one hardware buffer");
  HardwareFrames no_frames(session, "x");
  FakeHardwareBuffer buffer{.bytes = 64 << 10, .format = VK_FORMAT_R8G8B8A8_UNORM};
  EXPECT_VELLUM_ERROR(no_frames.run(&buffer, 11, 9), ErrorCode::unsupported, "only frames do");
  EXPECT_EQ(buffer.imports, 0u);
  const HardwareFrames moved(std::move(no_frames));
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_VELLUM_ERROR(no_frames.run(&buffer, 11, 9), ErrorCode::invalid_argument, "moved from");
  EXPECT_VELLUM_ERROR(no_frames.imported(), ErrorCode::invalid_argument, "moved from");
  EXPECT_VELLUM_ERROR(no_frames.forget(), ErrorCode::invalid_argument, "moved from");
  // NOLINTEND(bugprone-use-after-move)
  const Device without = Device::open(device_options());
  Session elsewhere(without, load(small_model()));
  EXPECT_VELLUM_ERROR(HardwareFrames(elsewhere, "x"), ErrorCode::unsupported,
                      "VK_ANDROID_external_memory_android_hardware_buffer is missing");
}

}  // namespace
}  // namespace vellum::test
