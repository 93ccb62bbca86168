// Android's hardware buffers as inputs, on a driver that is made to offer them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "api/impl.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "vellum/external.hpp"
#include "vellum/frame.hpp"
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
  FakeHardwareBuffer own{.bytes = 64 << 10};
  EXPECT_VELLUM_ERROR(ExternalImage::import(device, memory(own), image_info(16, 12)), ErrorCode::unsupported,
                      "format of the driver's own");
  EXPECT_VELLUM_ERROR(ExternalImage::import(device, {.type = kHardwareBuffers}, image_info(16, 12)),
                      ErrorCode::invalid_argument, "null");
}

}  // namespace
}  // namespace vellum::test
