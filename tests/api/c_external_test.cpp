// The C interface for memory and semaphores that are shared by file descriptors, strides and images.
#include <cstring>
#include <string>

#include "c_vulkan_fixture.hpp"
#include "vellum/vellum_external.h"

namespace vellum::test {
namespace {

using Accessed = vk::AccessFlagBits;
using During = vk::PipelineStageFlagBits;

constexpr VkBufferUsageFlags kStorage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;

// The small model's input has 27 rows of 11 floats, its output 2 channels of 4 rows of 5.
constexpr size_t kRows = 27, kRowBytes = 44, kPaddedRowBytes = 64, kSharedBytes = kRows * kPaddedRowBytes;
constexpr uint32_t kImageWidth = 5, kImageHeight = 4;
constexpr size_t kPixels = kImageWidth * kImageHeight;

// A session, and a buffer that is exported and imported again.
class CExternal : public CVulkanDevice {
 protected:
  void SetUp() override {
    open();
    support.size = sizeof support;
    ASSERT_EQ(vellum_device_external_support(device, VELLUM_OPAQUE_FD, &support, &error), VELLUM_OK);
    if (!support.exports_buffers) GTEST_SKIP() << "no memory is shared by file descriptors";
    ASSERT_EQ(vellum_external_buffer_make(device, kSharedBytes, kStorage, VELLUM_OPAQUE_FD, &made, &error),
              VELLUM_OK)
        << error.message;
    vellum_external_memory_init(&memory);
    EXPECT_EQ(memory.fd, -1);
    ASSERT_EQ(vellum_external_buffer_export(made, &memory, &error), VELLUM_OK) << error.message;
    ASSERT_EQ(vellum_external_buffer_import(device, &memory, kSharedBytes, kStorage, 0, &imported, &error),
              VELLUM_OK)
        << error.message;
    vellum_binding_init(&input);
    vellum_binding_init(&output);
    input.name = "x", input.buffer = vellum_external_buffer_handle(imported), input.bytes = kSharedBytes;
    input.strides = strides, input.stride_count = 4;
    output.name = "y", output.image = *image.image, output.format = VK_FORMAT_R32G32B32A32_SFLOAT;
    output.width = kImageWidth, output.height = kImageHeight;
  }
  ~CExternal() override {
    vellum_external_buffer_destroy(imported);
    vellum_external_buffer_destroy(made);
  }

  // To the buffer that was exported.
  void write_padded_rows(const Tensor& x) {
    auto* rows = static_cast<std::byte*>(vellum_external_buffer_data(made));
    ASSERT_NE(rows, nullptr);
    for (size_t row = 0; row < kRows; ++row)
      std::memcpy(rows + kPaddedRowBytes * row, static_cast<const std::byte*>(x.data()) + kRowBytes * row,
                  kRowBytes);
  }
  void make_image_general() {
    submit([&](const vk::raii::CommandBuffer& commands) {
      commands.pipelineBarrier(During::eTopOfPipe, During::eComputeShader, {}, {}, {},
                               vk::ImageMemoryBarrier({}, Accessed::eShaderWrite, vk::ImageLayout::eUndefined,
                                                      vk::ImageLayout::eGeneral, VK_QUEUE_FAMILY_IGNORED,
                                                      VK_QUEUE_FAMILY_IGNORED, *image.image, kColor));
    });
  }
  AppBuffer pixels_of_image() {
    AppBuffer pixels = app.make_buffer(kPixels * 16, vk::BufferUsageFlagBits::eTransferDst);
    submit([&](const vk::raii::CommandBuffer& commands) {
      commands.pipelineBarrier(
          During::eComputeShader, During::eTransfer, {}, {}, {},
          vk::ImageMemoryBarrier(Accessed::eShaderWrite, Accessed::eTransferRead, vk::ImageLayout::eGeneral,
                                 vk::ImageLayout::eTransferSrcOptimal, VK_QUEUE_FAMILY_IGNORED,
                                 VK_QUEUE_FAMILY_IGNORED, *image.image, kColor));
      commands.copyImageToBuffer(*image.image, vk::ImageLayout::eTransferSrcOptimal, *pixels.buffer,
                                 vk::BufferImageCopy(0, 0, 0, {vk::ImageAspectFlagBits::eColor, 0, 0, 1},
                                                     {0, 0, 0}, {kImageWidth, kImageHeight, 1}));
      commands.pipelineBarrier(During::eTransfer, During::eHost, {},
                               vk::MemoryBarrier(Accessed::eTransferWrite, Accessed::eHostRead), {}, {});
    });
    return pixels;
  }

  static constexpr vk::ImageSubresourceRange kColor{vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1};
  static constexpr VkDeviceSize strides[] = {kSharedBytes, 9 * kPaddedRowBytes, kPaddedRowBytes, 4};

  vellum_external_support support{};
  vellum_external_buffer *made = nullptr, *imported = nullptr;
  vellum_external_memory memory{};
  AppImage image = app.make_image(vk::Format::eR32G32B32A32Sfloat, kImageWidth, kImageHeight,
                                  vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eTransferSrc);
  vellum_binding input{}, output{};
};

TEST_F(CExternal, BindsSharedMemoryWithStridesAndAnImage) {
  const Tensor x = random_tensor({1, 3, 9, 11}, 1);
  Tensor want(DType::f32, {1, 2, kImageHeight, kImageWidth});
  run(x, want);
  write_padded_rows(x);
  vellum_recording* recording = nullptr;
  ASSERT_EQ(vellum_session_bind_all(session, &input, 1, &output, 1, &recording, &error), VELLUM_OK)
      << error.message;
  make_image_general();
  EXPECT_EQ(vellum_recording_run(recording, nullptr, 0, nullptr, 0, &error), VELLUM_OK) << error.message;
  vellum_recording_destroy(recording);
  const AppBuffer pixels = pixels_of_image();
  for (size_t i = 0; i < kPixels; ++i)
    for (size_t c = 0; c < 2; ++c) {
      float got = 0;
      std::memcpy(&got, pixels.data + 16 * i + 4 * c, sizeof got);
      EXPECT_EQ(got, want.as<float>()[kPixels * c + i]) << i;
    }
}

TEST_F(CExternal, RefusesBindingsOfDifferentSizes) {
  vellum_binding both[2] = {input, input};
  both[1].size = sizeof(size_t) + 3 * sizeof(void*);
  vellum_recording* none = nullptr;
  expect_status(vellum_session_bind_all(session, both, 2, &output, 1, &none, &error), VELLUM_INVALID_ARGUMENT,
                "different sizes");
  EXPECT_EQ(none, nullptr);
}

TEST_F(CExternal, RefusesABufferAndAnImageInOneBinding) {
  input.image = *image.image;
  vellum_recording* none = nullptr;
  expect_status(vellum_session_bind_all(session, &input, 1, &output, 1, &none, &error),
                VELLUM_INVALID_ARGUMENT, "a buffer and an image");
  EXPECT_EQ(none, nullptr);
}

TEST_F(CExternal, RefusesANullResultOfAnImport) {
  expect_status(vellum_external_buffer_import(device, &memory, 64, kStorage, 64 * 64, nullptr, &error),
                VELLUM_INVALID_ARGUMENT);
}

TEST_F(CExternal, RefusesDmaBufs) {
  vellum_external_buffer* none = imported;
  expect_status(vellum_external_buffer_make(device, 64, kStorage, VELLUM_DMA_BUF, &none, &error),
                VELLUM_UNSUPPORTED);
  EXPECT_EQ(none, nullptr);
}

TEST_F(CExternal, SharesSemaphoresWhereTheDriverDoes) {
  vellum_external_semaphore *semaphore = nullptr, *second = nullptr;
  vellum_external_semaphore_handle handle;
  vellum_external_semaphore_handle_init(&handle);
  expect_status(vellum_external_semaphore_make(device, VELLUM_OPAQUE_FD, 0, &semaphore, &error),
                support.exports_semaphores ? VELLUM_OK : VELLUM_UNSUPPORTED);
  ASSERT_EQ(semaphore != nullptr, support.exports_semaphores != 0);
  if (!semaphore) return;
  EXPECT_NE(vellum_external_semaphore_vk(semaphore), VkSemaphore(VK_NULL_HANDLE));
  EXPECT_EQ(vellum_external_semaphore_export(semaphore, &handle, &error), VELLUM_OK) << error.message;
  EXPECT_EQ(vellum_external_semaphore_import(device, &handle, &second, &error), VELLUM_OK) << error.message;
  vellum_external_semaphore_destroy(second);
  vellum_external_semaphore_destroy(semaphore);
}

}  // namespace
}  // namespace vellum::test
