// Memory and semaphores that are shared with other processes and other devices: vellum/external.hpp.
#include "vellum/external.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "external_peer.hpp"
#include "glslang_tables.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/environment.hpp"
#include "support/errors.hpp"
#include "vellum/frame.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

using Type = ExternalHandleType;

AppOptions without_extension(std::string_view left_out) {
  return {.adjust = [left_out](AppFeatures&, std::vector<const char*>& extensions) {
    std::erase_if(extensions, [&](std::string_view name) { return name == left_out; });
  }};
}

Tensor input() { return random_tensor({1, 3, 9, 11}, 1); }

Tensor expected(const Device& device) {
  return Session(device, load(small_model())).run({{"x", input()}}).at("y");
}

bool has(const Device& device, Type type, bool ExternalSupport::*what) {
  const std::vector<ExternalSupport> all = external_support(device);
  const auto found = std::ranges::find(all, type, &ExternalSupport::type);
  return found != all.end() && (*found).*what;
}

TEST(External, SupportIsThatOfTheDriver) {
  const Device device = Device::open(device_options());
  EXPECT_TRUE(has(device, Type::opaque_fd, &ExternalSupport::imports_buffers));
  EXPECT_TRUE(has(device, Type::opaque_fd, &ExternalSupport::exports_buffers));
  EXPECT_EQ(has(device, Type::opaque_fd, &ExternalSupport::imports_semaphores), on_swiftshader());
  EXPECT_EQ(has(device, Type::opaque_fd, &ExternalSupport::exports_semaphores), on_swiftshader());
  EXPECT_EQ(has(device, Type::host_pointer, &ExternalSupport::imports_buffers), !on_swiftshader());
  EXPECT_FALSE(has(device, Type::opaque_fd, &ExternalSupport::imports_timelines));
}

TEST(External, RequirementsNameTheExtensions) {
  Interposer vulkan;
  const VulkanApp app(vulkan.get_instance_proc_addr());
  const DeviceRequirements requirements = Device::requirements(app.physical());
  const auto lists = [&](std::string_view name) {
    return std::ranges::any_of(requirements.extensions(),
                               [&](std::string_view known) { return known == name; });
  };
  EXPECT_TRUE(lists(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME));
  EXPECT_EQ(lists(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME), on_swiftshader());
  EXPECT_TRUE(std::ranges::none_of(requirements.uses(), &DeviceUse::required));
}

// An extension that the device lacks is named in the refusal.
TEST(External, WhatTheDeviceLacksIsRefusedByName) {
  const Device device = Device::open(device_options());
  int something = 0;
  const auto import = [&](Type type) {
    return ExternalBuffer::import(device, {.type = type, .fd = 0, .handle = &something, .bytes = 4096}, 64,
                                  VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  };
  constexpr ErrorCode unsupported = ErrorCode::unsupported;
  EXPECT_VELLUM_ERROR(import(Type::dma_buf), unsupported, "imports no buffers as dma_buf",
                      "VK_EXT_external_memory_dma_buf");
  EXPECT_VELLUM_ERROR(import(Type::opaque_win32), unsupported, "VK_KHR_external_memory_win32");
  EXPECT_VELLUM_ERROR(import(Type::android_hardware_buffer), unsupported,
                      "VK_ANDROID_external_memory_android_hardware_buffer");
  EXPECT_VELLUM_ERROR(import(Type::sync_fd), unsupported, "sync_fd", "no such handles");
  if (on_swiftshader()) {
    EXPECT_VELLUM_ERROR(import(Type::host_pointer), unsupported, "host_pointer", "the driver does not");
  }
  EXPECT_VELLUM_ERROR(
      ExternalBuffer::make(device, 64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, Type::host_pointer), unsupported,
      "host_pointer");
  EXPECT_VELLUM_ERROR(ExternalImage::import(device, {.type = Type::android_hardware_buffer}, {}), unsupported,
                      "VK_ANDROID_external_memory_android_hardware_buffer");
  EXPECT_VELLUM_ERROR(ExternalSemaphore::make(device, Type::dma_buf), unsupported,
                      "no semaphores as dma_buf");
  EXPECT_VELLUM_ERROR(ExternalSemaphore::make(device, Type::opaque_win32), unsupported,
                      "VK_KHR_external_semaphore_win32");
  if (on_swiftshader()) {
    EXPECT_VELLUM_ERROR(ExternalSemaphore::make(device, Type::opaque_fd, true), unsupported,
                        "no timeline semaphores", "timelineSemaphore");
  } else {
    EXPECT_VELLUM_ERROR(ExternalSemaphore::make(device, Type::opaque_fd), unsupported,
                        "VK_KHR_external_semaphore_fd");
  }
  EXPECT_VELLUM_ERROR(ExternalBuffer().handle(), ErrorCode::invalid_argument, "no shared buffer");
  EXPECT_VELLUM_ERROR(ExternalImage().handle(), ErrorCode::invalid_argument, "no shared image");
  EXPECT_VELLUM_ERROR(ExternalSemaphore().handle(), ErrorCode::invalid_argument, "no shared semaphore");
}

TEST(External, WhatTheApplicationDidNotEnableIsRefusedByName) {
  Interposer vulkan;
  const VulkanApp app(vulkan.get_instance_proc_addr(),
                      without_extension(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME));
  const Device device = Device::adopt(app.device(), adopt_options());
  EXPECT_FALSE(has(device, Type::opaque_fd, &ExternalSupport::exports_buffers));
  EXPECT_VELLUM_ERROR(ExternalBuffer::make(device, 64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, Type::opaque_fd),
                      ErrorCode::unsupported, "VK_KHR_external_memory_fd is missing or not enabled");
}

TEST(External, ForeignOwnersNeedTheirExtension) {
  const Device device = Device::open(device_options());
  Session session(device, load(small_model()));
  const BufferLayout in = session.input_buffer("x");
  const ExternalBuffer x = ExternalBuffer::make(device, in.bytes, in.usage, Type::opaque_fd);
  const BufferBinding bound{"x", x.handle(), 0, in.bytes, {}, VK_QUEUE_FAMILY_FOREIGN_EXT};
  if (on_swiftshader()) {
    EXPECT_TRUE(session.bind({&bound, 1}, {}).valid());
  } else {
    EXPECT_VELLUM_ERROR(session.bind({&bound, 1}, {}), ErrorCode::unsupported, "input 'x'",
                        "VK_EXT_queue_family_foreign");
  }
}

bool is_open(int fd) { return fcntl(fd, F_GETFD) != -1; }

// Two devices of one process share memory as two processes do.
TEST(External, ANetworkRunsOnMemoryOfAnotherDevice) {
  const Device first = Device::open(device_options()), second = Device::open(device_options());
  Session session(second, load(small_model()));
  const BufferLayout in = session.input_buffer("x"), out = session.output_buffer("y");
  const ExternalBuffer x = ExternalBuffer::make(first, in.bytes, in.usage, Type::opaque_fd);
  const ExternalBuffer y = ExternalBuffer::make(first, out.bytes, out.usage, Type::opaque_fd);
  ASSERT_NE(x.data(), nullptr);
  const ExternalMemory shared = x.export_memory();
  const ExternalBuffer here = ExternalBuffer::import(second, shared, in.bytes, in.usage),
                       result = ExternalBuffer::import(second, y.export_memory(), out.bytes, out.usage);
  EXPECT_FALSE(is_open(shared.fd)) << "it became the driver's";
  EXPECT_EQ(here.bytes(), in.bytes);
  std::memcpy(x.data(), input().data(), input().byte_size());
  const BufferBinding bound_x{"x", here.handle(), 0, in.bytes, {}, VK_QUEUE_FAMILY_EXTERNAL},
      bound_y{"y", result.handle(), 0, out.bytes, {}, VK_QUEUE_FAMILY_EXTERNAL};
  const Recording recording = session.bind({&bound_x, 1}, {&bound_y, 1});
  const Tensor want = expected(second);
  for (int i = 0; i < 2; ++i) {
    std::memset(y.data(), 0, out.bytes);
    recording.run();
    EXPECT_EQ(std::memcmp(y.data(), want.data(), want.byte_size()), 0);
    EXPECT_EQ(std::memcmp(result.data(), want.data(), want.byte_size()), 0);
  }
  EXPECT_VELLUM_ERROR(here.export_memory(), ErrorCode::unsupported, "was imported");
}

// Input and output in one memory, each at an offset of its own.
TEST(External, BuffersBeginAtOffsetsOfTheMemory) {
  const Device device = Device::open(device_options());
  Session session(device, load(small_model()));
  const BufferLayout in = session.input_buffer("x"), out = session.output_buffer("y");
  constexpr uint64_t offset = 64 << 10;
  const ExternalBuffer all = ExternalBuffer::make(device, 2 * offset, in.usage | out.usage, Type::opaque_fd);
  const ExternalBuffer x = ExternalBuffer::import(device, all.export_memory(), in.bytes, in.usage),
                       y = ExternalBuffer::import(device, all.export_memory(), out.bytes, out.usage, offset);
  std::memcpy(all.data(), input().data(), input().byte_size());
  const BufferBinding bound_x{"x", x.handle(), 0, in.bytes}, bound_y{"y", y.handle(), 0, out.bytes};
  session.bind({&bound_x, 1}, {&bound_y, 1}).run();
  const Tensor want = expected(device);
  EXPECT_EQ(std::memcmp(all.data() + offset, want.data(), want.byte_size()), 0);
}

// The descriptor stays the caller's where an import fails.
TEST(External, MemoryThatDoesNotSuitIsRefused) {
  const Device device = Device::open(device_options());
  constexpr VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  const ExternalBuffer made = ExternalBuffer::make(device, 8192, usage, Type::opaque_fd);
  const ExternalMemory memory = made.export_memory();
  const auto import = [&](const ExternalMemory& changed, uint64_t bytes, uint64_t offset) {
    return ExternalBuffer::import(device, changed, bytes, usage, offset);
  };
  constexpr ErrorCode invalid = ErrorCode::invalid_argument;
  EXPECT_VELLUM_ERROR(import(memory, 1 << 20, 0), invalid, "it has 8192 bytes");
  EXPECT_VELLUM_ERROR(import(memory, 64, 8192), invalid, "it has 8192 bytes");
  EXPECT_VELLUM_ERROR(import(memory, 64, 1), invalid, "the offset 1 is not a multiple");
  EXPECT_VELLUM_ERROR(import(memory, 0, 0), invalid, "no bytes");
  ExternalMemory changed = memory;
  changed.memory_type = 31;
  EXPECT_VELLUM_ERROR(import(changed, 64, 0), invalid, "the memory type 31");
  changed = memory;
  changed.fd = -1;
  EXPECT_VELLUM_ERROR(import(changed, 64, 0), invalid, "no file descriptor");
  changed.fd = fcntl(memory.fd, F_DUPFD, 100);
  ::close(changed.fd);
  EXPECT_VELLUM_ERROR(import(changed, 64, 0), invalid, "cannot be imported");
  EXPECT_TRUE(is_open(memory.fd));
  EXPECT_TRUE(import(memory, 64, 4096).valid());
  EXPECT_FALSE(is_open(memory.fd));
}

TEST(External, ANetworkRunsOnMemoryOfTheHost) {
  if (on_swiftshader()) GTEST_SKIP() << "its driver imports none";
  const Device device = Device::open(device_options());
  Session session(device, load(small_model()));
  const BufferLayout in = session.input_buffer("x"), out = session.output_buffer("y");
  alignas(4096) static std::array<std::byte, 3 * 4096> memory;
  const auto import = [&](std::byte* at, uint64_t bytes, const BufferLayout& layout, uint64_t offset) {
    return ExternalBuffer::import(device, {.type = Type::host_pointer, .handle = at, .bytes = bytes},
                                  layout.bytes, layout.usage, offset);
  };
  constexpr ErrorCode invalid = ErrorCode::invalid_argument;
  EXPECT_VELLUM_ERROR(import(memory.data() + 64, 4096, in, 0), invalid, "not a multiple of 4096");
  EXPECT_VELLUM_ERROR(import(memory.data(), 4000, in, 0), invalid, "not a multiple of 4096");
  EXPECT_VELLUM_ERROR(import(nullptr, 4096, in, 0), invalid, "the handle is null");
  const ExternalBuffer x = import(memory.data(), 8192, in, 1024),
                       y = import(memory.data() + 8192, 4096, out, 0);
  EXPECT_EQ(x.data(), memory.data() + 1024);
  std::memcpy(x.data(), input().data(), input().byte_size());
  const BufferBinding bound_x{"x", x.handle(), 0, in.bytes}, bound_y{"y", y.handle(), 0, out.bytes};
  session.bind({&bound_x, 1}, {&bound_y, 1}).run();
  const Tensor want = expected(device);
  EXPECT_EQ(std::memcmp(memory.data() + 8192, want.data(), want.byte_size()), 0);
}

// A frame that the application writes to an image, and the network reads from a second image of its memory.
TEST(External, ANetworkReadsAnImageOfSharedMemory) {
  Interposer vulkan;
  VulkanApp app(vulkan.get_instance_proc_addr());
  const Device device = Device::adopt(app.device(), adopt_options());
  const FrameInput frame{.format = FrameFormat::rgba8, .width = 16, .height = 12};
  Session session(device, with_frames(load(small_model()), "x", frame));
  Tensor bytes(DType::u8, {static_cast<int64_t>(frame.bytes())});
  for (size_t i = 0; i < bytes.byte_size(); ++i)
    bytes.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(37 * i);
  Tensor transform(DType::f32, {2, 3});
  const FrameTransform part = FrameTransform::stretch({16, 12}, {11, 9});
  std::memcpy(transform.mutable_data(), part.values().data(), sizeof part.values());
  const std::map<std::string, Tensor> values{{"x", bytes}, {"x.transform", transform}};
  const Tensor want = session.run(values).at("y");

  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = VK_FORMAT_R8G8B8A8_UNORM;
  info.extent = {frame.width, frame.height, 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  const ExternalImage made = ExternalImage::make(device, info, Type::opaque_fd);
  const ExternalImage image = ExternalImage::import(device, made.export_memory(), info);
  EXPECT_EQ(image.format(), VK_FORMAT_R8G8B8A8_UNORM);
  EXPECT_VELLUM_ERROR(image.export_memory(), ErrorCode::unsupported, "was imported");

  const BufferLayout of_transform = session.input_buffer("x.transform"), out = session.output_buffer("y");
  const AppBuffer upload = app.make_buffer(bytes.byte_size(), vk::BufferUsageFlagBits::eTransferSrc),
                  six = app.make_buffer(of_transform.bytes, vk::BufferUsageFlags(of_transform.usage)),
                  y = app.make_buffer(out.bytes, vk::BufferUsageFlags(out.usage));
  std::memcpy(upload.data, bytes.data(), bytes.byte_size());
  std::memcpy(six.data, transform.data(), transform.byte_size());
  using Access = vk::AccessFlagBits;
  using Layout = vk::ImageLayout;
  using Stage = vk::PipelineStageFlagBits;
  const vk::ImageSubresourceRange whole(vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1);
  const vk::raii::CommandBuffer commands = app.make_commands();
  commands.begin(vk::CommandBufferBeginInfo());
  commands.pipelineBarrier(
      Stage::eTopOfPipe, Stage::eTransfer, {}, {}, {},
      vk::ImageMemoryBarrier({}, Access::eTransferWrite, Layout::eUndefined, Layout::eTransferDstOptimal,
                             VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED, made.handle(), whole));
  commands.copyBufferToImage(
      *upload.buffer, made.handle(), Layout::eTransferDstOptimal,
      vk::BufferImageCopy(0, 0, 0, {vk::ImageAspectFlagBits::eColor, 0, 0, 1}, {}, {16, 12, 1}));
  commands.pipelineBarrier(
      Stage::eTransfer, Stage::eComputeShader, {}, {}, {},
      vk::ImageMemoryBarrier(Access::eTransferWrite, {}, Layout::eTransferDstOptimal, Layout::eGeneral,
                             app.family(), VK_QUEUE_FAMILY_EXTERNAL, made.handle(), whole));
  commands.end();
  app.submit_and_wait(commands);
  ImageBinding in{.name = "x", .image = image.handle(), .format = image.format(), .width = 16, .height = 12};
  in.owner = VK_QUEUE_FAMILY_EXTERNAL;
  const BufferBinding with{"x.transform", *six.buffer, 0, six.bytes}, to{"y", *y.buffer, 0, y.bytes};
  session.bind({.inputs = {&with, 1}, .outputs = {&to, 1}, .input_images = {&in, 1}}).run();
  EXPECT_EQ(std::memcmp(y.data, want.data(), want.byte_size()), 0);
}

#ifdef __linux__

class TwoProcesses : public testing::Test {
 protected:
  TwoProcesses()
      : app(vulkan.get_instance_proc_addr()), device(Device::adopt(app.device(), adopt_options())) {}

  void transfer(const vk::raii::CommandBuffer& commands, const ExternalBuffer& buffer, bool to_other) {
    using Access = vk::AccessFlagBits;
    using Stage = vk::PipelineStageFlagBits;
    const uint32_t own = app.family();
    constexpr uint32_t other = VK_QUEUE_FAMILY_EXTERNAL;
    const vk::BufferMemoryBarrier barrier(
        to_other ? Access::eTransferWrite : Access::eNone, to_other ? Access::eNone : Access::eTransferRead,
        to_other ? own : other, to_other ? other : own, buffer.handle(), 0, VK_WHOLE_SIZE);
    commands.pipelineBarrier(Stage::eTransfer, to_other ? Stage::eBottomOfPipe : Stage::eTransfer, {}, {},
                             barrier, {});
  }
  // Copies, and hands the buffer over to the other process after writing to it, or before reading from it.
  vk::raii::CommandBuffer copy(vk::Buffer from, vk::Buffer to, uint64_t bytes, const ExternalBuffer& shared,
                               bool writes) {
    vk::raii::CommandBuffer commands = app.make_commands();
    commands.begin(vk::CommandBufferBeginInfo());
    if (!writes) transfer(commands, shared, false);
    commands.copyBuffer(from, to, vk::BufferCopy(0, 0, bytes));
    if (writes) transfer(commands, shared, true);
    commands.pipelineBarrier(
        vk::PipelineStageFlagBits::eTransfer, vk::PipelineStageFlagBits::eHost, {},
        vk::MemoryBarrier(vk::AccessFlagBits::eTransferWrite, vk::AccessFlagBits::eHostRead), {}, {});
    commands.end();
    return commands;
  }

  Interposer vulkan;
  VulkanApp app;
  Device device;
};

// This process writes the input and reads the output, on the device; the other runs the network. On
// SwiftShader their submits wait for each other by semaphores, elsewhere the processes do.
TEST_F(TwoProcesses, ShareMemoryAndSemaphores) {
  const Tensor want = expected(device);
  Session session(device, load(small_model()));
  const BufferLayout in = session.input_buffer("x"), out = session.output_buffer("y");
  const ExternalBuffer x = ExternalBuffer::make(device, in.bytes, in.usage | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                                Type::opaque_fd),
                       y = ExternalBuffer::make(
                           device, out.bytes, out.usage | VK_BUFFER_USAGE_TRANSFER_SRC_BIT, Type::opaque_fd);
  const AppBuffer upload = app.make_buffer(in.bytes, vk::BufferUsageFlagBits::eTransferSrc),
                  download = app.make_buffer(out.bytes, vk::BufferUsageFlagBits::eTransferDst);
  std::memcpy(upload.data, input().data(), input().byte_size());
  const vk::raii::CommandBuffer before = copy(*upload.buffer, x.handle(), in.bytes, x, true),
                                after = copy(y.handle(), *download.buffer, out.bytes, y, false);

  SharedHandles handles;
  handles.input = x.export_memory();
  handles.output = y.export_memory();
  handles.has_semaphores = has(device, Type::opaque_fd, &ExternalSupport::exports_semaphores);
  EXPECT_EQ(handles.has_semaphores, on_swiftshader());
  ExternalSemaphore written, done;
  if (handles.has_semaphores) {
    written = ExternalSemaphore::make(device, Type::opaque_fd);
    done = ExternalSemaphore::make(device, Type::opaque_fd);
    handles.written = written.export_handle();
    handles.done = done.export_handle();
  }
  const Peer peer = start_peer();
  ASSERT_NE(peer.socket, -1);
  if (handles.has_semaphores) {
    const vk::Semaphore signal(written.handle()), wait(done.handle());
    app.queue().submit(vk::SubmitInfo({}, {}, *before, signal));
    send_handles(peer.socket, handles);
    ASSERT_EQ(receive_byte(peer.socket), kSubmitted);
    constexpr vk::PipelineStageFlags stage = vk::PipelineStageFlagBits::eTransfer;
    const vk::raii::Fence fence(app.handle(), vk::FenceCreateInfo());
    app.queue().submit(vk::SubmitInfo(wait, stage, *after), *fence);
    ASSERT_EQ(app.handle().waitForFences(*fence, VK_TRUE, UINT64_MAX), vk::Result::eSuccess);
  } else {
    app.submit_and_wait(before);
    send_handles(peer.socket, handles);
    ASSERT_EQ(receive_byte(peer.socket), kFinished);
    app.submit_and_wait(after);
  }
  EXPECT_EQ(std::memcmp(download.data, want.data(), want.byte_size()), 0);
  send_byte(peer.socket, kEnd);
  EXPECT_EQ(wait_for_peer(peer), 0) << "validation messages or an error in the second process";
  app.queue().waitIdle();
}

#endif

}  // namespace
}  // namespace vellum::test
