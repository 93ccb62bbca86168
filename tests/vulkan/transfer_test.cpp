#include "vulkan/transfer.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "support/gpu_test.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/image.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan/kernel_run.hpp"

namespace vellum::gpu {
namespace {

using test::test_context;

std::vector<std::byte> pattern(size_t bytes, uint32_t seed) {
  std::vector<std::byte> values(bytes);
  for (std::byte& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<std::byte>(seed >> 24);
  }
  return values;
}

// Finite halves or floats: drivers may change the bits of NaNs.
std::vector<std::byte> texels_of(const ImageDesc& desc, uint32_t seed) {
  std::vector<std::byte> bytes = pattern(desc.byte_size(), seed);
  const size_t element = desc.format == ImageFormat::rgba32f ? 4 : 2;
  for (size_t i = element - 1; i < bytes.size(); i += element) bytes[i] = std::byte{0x3C};
  return bytes;
}

// The least staging buffer holds one row of the largest image: here 1 KiB.
DeviceCaps with_small_images(const DeviceCaps& caps) {
  DeviceCaps small = caps;
  small.max_image_dimension_2d = 64;
  return small;
}

TEST(Transfer, ImagesArriveWholeThroughASmallStagingBuffer) {
  ContextOptions options = test::test_context_options();
  options.adjust_caps = with_small_images;
  const auto context = Context::create(options);
  std::vector<ImageDesc> descs{{false, 64, 37, 1, ImageFormat::rgba32f},
                               {true, 7, 5, 31, ImageFormat::rgba16f},
                               {true, 61, 3, 2, ImageFormat::rgba32f},
                               {false, 1, 1, 1, ImageFormat::rgba16f},
                               {false, 3, 64, 1, ImageFormat::rgba16f}};
  if (!context->caps().rgba16f_images)
    std::erase_if(descs, [](const ImageDesc& desc) { return desc.format == ImageFormat::rgba16f; });
  std::vector<Image> images;
  Uploader uploader(context, 1);
  for (size_t i = 0; i < descs.size(); ++i) {
    images.push_back(make_image(context, descs[i], MemoryCategory::weights));
    uploader.upload(images[i], texels_of(descs[i], static_cast<uint32_t>(i)));
  }
  EXPECT_EQ(context->memory_statistics().of(MemoryCategory::staging).allocations, 1u);
  EXPECT_LE(context->memory_statistics().of(MemoryCategory::staging).bytes, 4096u);
  uploader.finish();
  EXPECT_EQ(context->memory_statistics().of(MemoryCategory::staging).bytes, 0u);
  for (size_t i = 0; i < descs.size(); ++i)
    EXPECT_EQ(download(context, images[i]), texels_of(descs[i], static_cast<uint32_t>(i))) << i;
}

TEST(Transfer, BuffersArriveWhole) {
  const Buffer buffer = make_buffer(test_context(), 100003, MemoryKind::device, MemoryCategory::weights);
  const std::vector<std::byte> all = pattern(buffer.size(), 1), part = pattern(100, 2);
  Uploader uploader(test_context());
  uploader.upload(buffer, 0, all);
  uploader.upload(buffer, 17 * 4, part);
  uploader.finish();
  std::vector<std::byte> expected = all;
  std::ranges::copy(part, expected.begin() + 17 * 4);
  EXPECT_EQ(download(test_context(), buffer), expected);
}

TEST(Transfer, BuffersThatTheHostCannotReachArriveThroughStaging) {
  test::Interposer vulkan;
  vulkan.split_memory();
  ContextOptions options = test::test_context_options();
  options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
  options.adjust_caps = with_small_images;
  const auto context = Context::create(options);
  const Buffer buffer = make_buffer(context, 100003, MemoryKind::device, MemoryCategory::weights);
  ASSERT_EQ(buffer.data(), nullptr);
  std::vector<std::byte> expected = pattern(buffer.size(), 3);
  Uploader uploader(context, 1);
  uploader.upload(buffer, 0, std::span(expected).first(5001));
  uploader.upload(buffer, 5001, std::span(expected).subspan(5001));
  EXPECT_EQ(context->memory_statistics().of(MemoryCategory::staging).allocations, 1u);
  uploader.finish();
  EXPECT_EQ(context->memory_statistics().of(MemoryCategory::staging).bytes, 0u);
  EXPECT_EQ(download(context, buffer), expected);
}

TEST(Transfer, WrongSizesAreErrors) {
  const Buffer buffer = make_buffer(test_context(), 100, MemoryKind::device, MemoryCategory::other);
  const Image image = make_image(test_context(), {}, MemoryCategory::other);
  Uploader uploader(test_context());
  EXPECT_THROW(uploader.upload(buffer, 97, pattern(4, 0)), Error);
  EXPECT_THROW(uploader.upload(buffer, std::numeric_limits<uint64_t>::max(), pattern(4, 0)), Error);
  EXPECT_THROW(uploader.upload(image, pattern(15, 0)), Error);
}

}  // namespace
}  // namespace vellum::gpu
