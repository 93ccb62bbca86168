// The C interface for applications with a Vulkan device of their own.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/tensors.hpp"
#include "vellum/vellum_external.h"
#include "vellum/vellum_vulkan.h"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

struct Locks {
  int locked = 0, unlocked = 0;
};

class CVulkan : public testing::Test {
 protected:
  CVulkan() : app(vulkan.get_instance_proc_addr(), {.own_structures = true}) {}
  ~CVulkan() override {
    vellum_session_destroy(session);
    vellum_model_destroy(model);
    vellum_device_destroy(device);
  }

  vellum_vulkan_physical_device physical() const {
    const VulkanPhysicalDevice found = app.physical();
    return {found.get_instance_proc_addr, found.instance, found.api_version, found.physical_device};
  }
  vellum_vulkan_device application_device() {
    const VulkanDevice found = app.device();
    vellum_vulkan_device mine;
    vellum_vulkan_device_init(&mine);
    mine.physical = physical();
    mine.device = found.device;
    mine.compute = {found.compute.queue, found.compute.family,
                    [](void* user) { ++static_cast<Locks*>(user)->locked; },
                    [](void* user) { ++static_cast<Locks*>(user)->unlocked; }, &locks};
    mine.extensions = found.extensions.data();
    mine.extension_count = found.extensions.size();
    mine.features = found.features;
    return mine;
  }
  void open() { open(application_device()); }
  void open(const vellum_vulkan_device& mine) {
    const std::string bytes = small_model().bytes();
    ASSERT_EQ(vellum_device_adopt(&mine, nullptr, &device, &error), VELLUM_OK) << error.message;
    ASSERT_EQ(vellum_model_load_bytes(bytes.data(), bytes.size(), &model, &error), VELLUM_OK)
        << error.message;
    ASSERT_EQ(vellum_session_create(device, model, nullptr, &session, &error), VELLUM_OK) << error.message;
  }

  Interposer vulkan;
  VulkanApp app;
  Locks locks;
  vellum_error error{};
  vellum_device* device = nullptr;
  vellum_model* model = nullptr;
  vellum_session* session = nullptr;
};

TEST_F(CVulkan, RequirementsAreThoseOfCpp) {
  const DeviceRequirements want = Device::requirements(app.physical());
  const vellum_vulkan_physical_device mine = physical();
  vellum_vulkan_requirements* wants = nullptr;
  ASSERT_EQ(vellum_vulkan_requirements_create(&mine, &wants, &error), VELLUM_OK) << error.message;
  ASSERT_EQ(vellum_vulkan_requirements_use_count(wants), want.uses().size());
  for (size_t i = 0; i < want.uses().size(); ++i) {
    vellum_vulkan_use use{};
    use.size = sizeof use;
    ASSERT_EQ(vellum_vulkan_requirements_use(wants, i, &use, &error), VELLUM_OK) << error.message;
    EXPECT_EQ(use.purpose, want.uses()[i].purpose);
    EXPECT_EQ(use.required != 0, want.uses()[i].required);
    EXPECT_EQ(use.extension_count, want.uses()[i].extensions.size());
    ASSERT_EQ(use.feature_count, want.uses()[i].features.size());
    for (size_t f = 0; f < use.feature_count; ++f) EXPECT_STREQ(use.features[f], want.uses()[i].features[f]);
  }
  size_t count = 0;
  const char* const* extensions = vellum_vulkan_requirements_extensions(wants, &count);
  ASSERT_EQ(count, want.extensions().size());
  for (size_t i = 0; i < count; ++i) EXPECT_STREQ(extensions[i], want.extensions()[i]);
  EXPECT_EQ(vellum_vulkan_requirements_compute_family(wants), want.compute_family());
  EXPECT_EQ(vellum_vulkan_requirements_transfer_family(wants),
            want.transfer_family().value_or(VK_QUEUE_FAMILY_IGNORED));
  VkPhysicalDeviceVulkan11Features core11{};
  core11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  EXPECT_NE(vellum_vulkan_requirements_enable_features(wants, &core11), nullptr);
  vellum_vulkan_use unsized{};
  EXPECT_EQ(vellum_vulkan_requirements_use(wants, 0, &unsized, &error), VELLUM_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.message).find("size"), std::string::npos);
  vellum_vulkan_use use{};
  use.size = sizeof use;
  EXPECT_EQ(vellum_vulkan_requirements_use(wants, 99, &use, &error), VELLUM_INVALID_ARGUMENT);
  vellum_vulkan_requirements_destroy(wants);
}

TEST_F(CVulkan, RecordsAndSubmitsWithTheApplicationsBuffers) {
  open();
  uint8_t uuid[16] = {};
  EXPECT_EQ(vellum_device_uuid(device, uuid, &error), VELLUM_OK);
  EXPECT_TRUE(std::ranges::equal(uuid, Device::adopt(app.device()).info().uuid));

  const Tensor x = random_tensor({1, 3, 9, 11}, 1);
  Tensor want(DType::f32, {1, 2, 4, 5});
  ASSERT_EQ(vellum_session_set_input(session, "x", x.data(), x.byte_size(), &error), VELLUM_OK);
  ASSERT_EQ(vellum_session_run(session, &error), VELLUM_OK);
  ASSERT_EQ(vellum_session_get_output(session, "y", want.mutable_data(), want.byte_size(), &error),
            VELLUM_OK);

  vellum_buffer_layout in{}, out{};
  in.size = out.size = sizeof in;
  ASSERT_EQ(vellum_session_input_buffer(session, "x", &in, &error), VELLUM_OK) << error.message;
  ASSERT_EQ(vellum_session_output_buffer(session, "y", &out, &error), VELLUM_OK) << error.message;
  EXPECT_EQ(in.element, VELLUM_F32);
  const AppBuffer input = app.make_buffer(in.bytes, vk::BufferUsageFlags(in.usage)),
                  output = app.make_buffer(out.bytes, vk::BufferUsageFlags(out.usage));
  std::memcpy(input.data, x.data(), x.byte_size());
  const vellum_buffer_binding bound_input{"x", *input.buffer, 0, in.bytes},
      bound_output{"y", *output.buffer, 0, out.bytes};
  vellum_recording* recording = nullptr;
  ASSERT_EQ(vellum_session_bind(session, &bound_input, 1, &bound_output, 1, &recording, &error), VELLUM_OK)
      << error.message;
  const vk::raii::CommandBuffer commands = app.make_commands();
  commands.begin(vk::CommandBufferBeginInfo());
  EXPECT_EQ(vellum_recording_record(recording, *commands, &error), VELLUM_OK) << error.message;
  commands.end();
  const auto check = [&] {
    EXPECT_EQ(std::memcmp(output.data, want.data(), want.byte_size()), 0);
    std::memset(output.data, 0, output.bytes);
  };
  app.submit_and_wait(commands);
  check();
  EXPECT_EQ(vellum_recording_submit(recording, nullptr, 0, nullptr, 0, &error), VELLUM_OK) << error.message;
  app.queue().waitIdle();
  check();
  const vk::raii::Semaphore done(app.handle(), vk::SemaphoreCreateInfo());
  const vellum_semaphore signal{*done, 0, 0};
  const vellum_input_values values{"x", x.data(), x.byte_size(), nullptr, 0};
  Tensor got(DType::f32, {1, 2, 4, 5});
  const vellum_output_values to{"y", got.mutable_data(), got.byte_size()};
  vellum_run* run = nullptr;
  ASSERT_EQ(vellum_session_submit_after(session, &values, 1, &to, 1, nullptr, 0, &signal, 1, &run, &error),
            VELLUM_OK)
      << error.message;
  // The recording waits for the semaphore that the run signals.
  EXPECT_EQ(vellum_recording_submit(recording, &signal, 1, nullptr, 0, &error), VELLUM_OK) << error.message;
  EXPECT_EQ(vellum_run_wait(run, &error), VELLUM_OK) << error.message;
  EXPECT_EQ(std::memcmp(got.data(), want.data(), want.byte_size()), 0);
  vellum_run_destroy(run);
  app.queue().waitIdle();
  check();
  EXPECT_GT(locks.locked, 0);
  EXPECT_EQ(locks.locked, locks.unlocked);

  EXPECT_EQ(vellum_recording_record(recording, nullptr, &error), VELLUM_INVALID_ARGUMENT);
  EXPECT_EQ(vellum_recording_record(nullptr, *commands, &error), VELLUM_INVALID_ARGUMENT);
  vellum_recording* none = recording;
  EXPECT_EQ(vellum_session_bind(session, nullptr, 0, nullptr, 0, &none, &error), VELLUM_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  EXPECT_NE(std::string(error.message).find("'x' is not bound"), std::string::npos) << error.message;
  vellum_recording_destroy(recording);
}

TEST_F(CVulkan, RefusesFramesInHardwareBuffersByName) {
  open();
  vellum_hardware_frames* frames = nullptr;
  EXPECT_EQ(vellum_hardware_frames_create(session, "x", 0, &frames, &error), VELLUM_UNSUPPORTED);
  EXPECT_NE(std::string(error.message).find("VK_ANDROID_external_memory_android_hardware_buffer"),
            std::string::npos)
      << error.message;
  EXPECT_EQ(frames, nullptr);
  EXPECT_EQ(vellum_hardware_frames_create(session, "z", 0, &frames, &error), VELLUM_NOT_FOUND);
  EXPECT_EQ(vellum_hardware_frames_create(nullptr, "x", 0, &frames, &error), VELLUM_INVALID_ARGUMENT);
  EXPECT_EQ(vellum_hardware_frames_run(nullptr, nullptr, 1, 1, &error), VELLUM_INVALID_ARGUMENT);
  EXPECT_EQ(vellum_external_image_external_format(nullptr), 0u);
  vellum_hardware_frames_destroy(nullptr);
}

// Input from shared memory with strides, output to an image.
TEST_F(CVulkan, BindsSharedMemoryStridesAndImages) {
  open();
  vellum_external_support support{};
  support.size = sizeof support;
  ASSERT_EQ(vellum_device_external_support(device, VELLUM_OPAQUE_FD, &support, &error), VELLUM_OK);
  if (!support.exports_buffers) GTEST_SKIP() << "no memory is shared by file descriptors";

  const Tensor x = random_tensor({1, 3, 9, 11}, 1);
  Tensor want(DType::f32, {1, 2, 4, 5});
  ASSERT_EQ(vellum_session_set_input(session, "x", x.data(), x.byte_size(), &error), VELLUM_OK);
  ASSERT_EQ(vellum_session_run(session, &error), VELLUM_OK);
  ASSERT_EQ(vellum_session_get_output(session, "y", want.mutable_data(), want.byte_size(), &error),
            VELLUM_OK);

  // Rows of 64 bytes.
  constexpr VkDeviceSize strides[] = {27 * 64, 9 * 64, 64, 4};
  vellum_external_buffer *made = nullptr, *imported = nullptr;
  ASSERT_EQ(vellum_external_buffer_make(device, 27 * 64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, VELLUM_OPAQUE_FD,
                                        &made, &error),
            VELLUM_OK)
      << error.message;
  vellum_external_memory memory;
  vellum_external_memory_init(&memory);
  EXPECT_EQ(memory.fd, -1);
  ASSERT_EQ(vellum_external_buffer_export(made, &memory, &error), VELLUM_OK) << error.message;
  ASSERT_EQ(vellum_external_buffer_import(device, &memory, 27 * 64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, 0,
                                          &imported, &error),
            VELLUM_OK)
      << error.message;
  auto* rows = static_cast<std::byte*>(vellum_external_buffer_data(made));
  ASSERT_NE(rows, nullptr);
  for (size_t row = 0; row < 27; ++row)
    std::memcpy(rows + 64 * row, static_cast<const std::byte*>(x.data()) + 44 * row, 44);

  using ImageUsage = vk::ImageUsageFlagBits;
  const AppImage image =
      app.make_image(vk::Format::eR32G32B32A32Sfloat, 5, 4, ImageUsage::eStorage | ImageUsage::eTransferSrc);
  const AppBuffer pixels = app.make_buffer(4 * 5 * 16, vk::BufferUsageFlagBits::eTransferDst);
  vellum_binding input, output;
  vellum_binding_init(&input);
  vellum_binding_init(&output);
  input.name = "x", input.buffer = vellum_external_buffer_handle(imported), input.bytes = 27 * 64;
  input.strides = strides, input.stride_count = 4;
  output.name = "y", output.image = *image.image, output.format = VK_FORMAT_R32G32B32A32_SFLOAT;
  output.width = 5, output.height = 4;
  vellum_recording* recording = nullptr;
  ASSERT_EQ(vellum_session_bind_all(session, &input, 1, &output, 1, &recording, &error), VELLUM_OK)
      << error.message;

  using Accessed = vk::AccessFlagBits;
  using During = vk::PipelineStageFlagBits;
  const vk::ImageSubresourceRange whole(vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1);
  const auto submit = [&](auto&& record) {
    const vk::raii::CommandBuffer commands = app.make_commands();
    commands.begin(vk::CommandBufferBeginInfo());
    record(commands);
    commands.end();
    app.submit_and_wait(commands);
  };
  submit([&](const vk::raii::CommandBuffer& commands) {
    commands.pipelineBarrier(During::eTopOfPipe, During::eComputeShader, {}, {}, {},
                             vk::ImageMemoryBarrier({}, Accessed::eShaderWrite, vk::ImageLayout::eUndefined,
                                                    vk::ImageLayout::eGeneral, VK_QUEUE_FAMILY_IGNORED,
                                                    VK_QUEUE_FAMILY_IGNORED, *image.image, whole));
  });
  EXPECT_EQ(vellum_recording_run(recording, nullptr, 0, nullptr, 0, &error), VELLUM_OK) << error.message;
  submit([&](const vk::raii::CommandBuffer& commands) {
    commands.pipelineBarrier(
        During::eComputeShader, During::eTransfer, {}, {}, {},
        vk::ImageMemoryBarrier(Accessed::eShaderWrite, Accessed::eTransferRead, vk::ImageLayout::eGeneral,
                               vk::ImageLayout::eTransferSrcOptimal, VK_QUEUE_FAMILY_IGNORED,
                               VK_QUEUE_FAMILY_IGNORED, *image.image, whole));
    commands.copyImageToBuffer(
        *image.image, vk::ImageLayout::eTransferSrcOptimal, *pixels.buffer,
        vk::BufferImageCopy(0, 0, 0, {vk::ImageAspectFlagBits::eColor, 0, 0, 1}, {0, 0, 0}, {5, 4, 1}));
    commands.pipelineBarrier(During::eTransfer, During::eHost, {},
                             vk::MemoryBarrier(Accessed::eTransferWrite, Accessed::eHostRead), {}, {});
  });
  for (size_t i = 0; i < 20; ++i)
    for (size_t c = 0; c < 2; ++c) {
      float got = 0;
      std::memcpy(&got, pixels.data + 16 * i + 4 * c, sizeof got);
      EXPECT_EQ(got, want.as<float>()[20 * c + i]) << i;
    }

  // Refusals.
  vellum_recording* none = recording;
  vellum_binding both[2] = {input, input};
  both[1].size = sizeof(size_t) + 3 * sizeof(void*);
  EXPECT_EQ(vellum_session_bind_all(session, both, 2, &output, 1, &none, &error), VELLUM_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.message).find("different sizes"), std::string::npos) << error.message;
  EXPECT_EQ(none, nullptr);
  input.image = *image.image;
  EXPECT_EQ(vellum_session_bind_all(session, &input, 1, &output, 1, &none, &error), VELLUM_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.message).find("a buffer and an image"), std::string::npos) << error.message;
  EXPECT_EQ(vellum_external_buffer_import(device, &memory, 64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, 64 * 64,
                                          nullptr, &error),
            VELLUM_INVALID_ARGUMENT);
  vellum_external_buffer* no_buffer = imported;
  EXPECT_EQ(vellum_external_buffer_make(device, 64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, VELLUM_DMA_BUF,
                                        &no_buffer, &error),
            VELLUM_UNSUPPORTED);
  EXPECT_EQ(no_buffer, nullptr);
  vellum_external_semaphore* semaphore = nullptr;
  vellum_external_semaphore_handle handle;
  vellum_external_semaphore_handle_init(&handle);
  const vellum_status status =
      vellum_external_semaphore_make(device, VELLUM_OPAQUE_FD, 0, &semaphore, &error);
  EXPECT_EQ(status, support.exports_semaphores ? VELLUM_OK : VELLUM_UNSUPPORTED) << error.message;
  if (semaphore) {
    EXPECT_NE(vellum_external_semaphore_vk(semaphore), VkSemaphore(VK_NULL_HANDLE));
    EXPECT_EQ(vellum_external_semaphore_export(semaphore, &handle, &error), VELLUM_OK) << error.message;
    vellum_external_semaphore* second = nullptr;
    EXPECT_EQ(vellum_external_semaphore_import(device, &handle, &second, &error), VELLUM_OK) << error.message;
    vellum_external_semaphore_destroy(second);
    vellum_external_semaphore_destroy(semaphore);
  }
  vellum_recording_destroy(recording);
  vellum_external_buffer_destroy(imported);
  vellum_external_buffer_destroy(made);
}

struct CountingAllocator {
  VkDevice device;
  PFN_vkAllocateMemory allocate;
  PFN_vkFreeMemory free;
  PFN_vkMapMemory map;
  int live = 0, made = 0;
};

TEST_F(CVulkan, TakesMemoryOfTheApplicationsAllocator) {
  const VulkanDevice found = app.device();
  const auto function = [&](const char* name) { return app.handle().getProcAddr(name); };
  CountingAllocator allocator{found.device,
                              reinterpret_cast<PFN_vkAllocateMemory>(function("vkAllocateMemory")),
                              reinterpret_cast<PFN_vkFreeMemory>(function("vkFreeMemory")),
                              reinterpret_cast<PFN_vkMapMemory>(function("vkMapMemory"))};
  vellum_vulkan_device mine = application_device();
  mine.memory_user = &allocator;
  mine.allocate_memory = [](void* user, VkDeviceSize bytes, uint32_t type, VkDeviceSize) {
    auto& own = *static_cast<CountingAllocator*>(user);
    vellum_device_memory memory{};
    const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, bytes, type};
    if (own.allocate(own.device, &info, nullptr, &memory.memory) != VK_SUCCESS) return vellum_device_memory{};
    own.map(own.device, memory.memory, 0, VK_WHOLE_SIZE, 0, &memory.mapped);
    ++own.live, ++own.made;
    return memory;
  };
  EXPECT_EQ(vellum_device_adopt(&mine, nullptr, &device, &error), VELLUM_INVALID_ARGUMENT);
  mine.free_memory = [](void* user, const vellum_device_memory* memory) {
    auto& own = *static_cast<CountingAllocator*>(user);
    own.free(own.device, memory->memory, nullptr);
    --own.live;
  };
  open(mine);
  const Tensor x = random_tensor({1, 3, 9, 11}, 1);
  ASSERT_EQ(vellum_session_set_input(session, "x", x.data(), x.byte_size(), &error), VELLUM_OK);
  ASSERT_EQ(vellum_session_run(session, &error), VELLUM_OK) << error.message;
  EXPECT_GT(allocator.made, 3);
  EXPECT_EQ(vulkan.allocations(), 0u) << "Vellum calls vkAllocateMemory";
  vellum_session_destroy(std::exchange(session, nullptr));
  vellum_model_destroy(std::exchange(model, nullptr));
  vellum_device_destroy(std::exchange(device, nullptr));
  EXPECT_EQ(allocator.live, 0);
}

}  // namespace
}  // namespace vellum::test
