// The C interface for applications with a Vulkan device of their own.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "c_vulkan_fixture.hpp"
#include "vellum/vellum_external.h"

namespace vellum::test {
namespace {

class CRequirements : public CVulkanDevice {
 protected:
  CRequirements() {
    const vellum_vulkan_physical_device mine = physical();
    EXPECT_EQ(vellum_vulkan_requirements_create(&mine, &found, &error), VELLUM_OK) << error.message;
  }
  ~CRequirements() override { vellum_vulkan_requirements_destroy(found); }

  DeviceRequirements want = Device::requirements(app.physical());
  vellum_vulkan_requirements* found = nullptr;
};

TEST_F(CRequirements, UsesAreThoseOfCpp) {
  ASSERT_EQ(vellum_vulkan_requirements_use_count(found), want.uses().size());
  for (size_t i = 0; i < want.uses().size(); ++i) {
    vellum_vulkan_use use{};
    use.size = sizeof use;
    ASSERT_EQ(vellum_vulkan_requirements_use(found, i, &use, &error), VELLUM_OK) << error.message;
    EXPECT_EQ(use.purpose, want.uses()[i].purpose);
    EXPECT_EQ(use.required != 0, want.uses()[i].required);
    EXPECT_EQ(use.extension_count, want.uses()[i].extensions.size());
    ASSERT_EQ(use.feature_count, want.uses()[i].features.size());
    for (size_t f = 0; f < use.feature_count; ++f) EXPECT_STREQ(use.features[f], want.uses()[i].features[f]);
  }
}

TEST_F(CRequirements, ExtensionsAndFamiliesAreThoseOfCpp) {
  size_t count = 0;
  const char* const* extensions = vellum_vulkan_requirements_extensions(found, &count);
  ASSERT_EQ(count, want.extensions().size());
  for (size_t i = 0; i < count; ++i) EXPECT_STREQ(extensions[i], want.extensions()[i]);
  EXPECT_EQ(vellum_vulkan_requirements_compute_family(found), want.compute_family());
  EXPECT_EQ(vellum_vulkan_requirements_transfer_family(found),
            want.transfer_family().value_or(VK_QUEUE_FAMILY_IGNORED));
}

TEST_F(CRequirements, FeaturesAreChained) {
  VkPhysicalDeviceVulkan11Features core11{};
  core11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  EXPECT_NE(vellum_vulkan_requirements_enable_features(found, &core11), nullptr);
}

TEST_F(CRequirements, RefusesStructuresWithoutSizeAndUnknownUses) {
  vellum_vulkan_use use{};
  expect_status(vellum_vulkan_requirements_use(found, 0, &use, &error), VELLUM_INVALID_ARGUMENT, "size");
  use.size = sizeof use;
  expect_status(vellum_vulkan_requirements_use(found, 99, &use, &error), VELLUM_INVALID_ARGUMENT);
}

TEST_F(CVulkanDevice, HasTheUuidOfCpp) {
  open();
  uint8_t uuid[16] = {};
  EXPECT_EQ(vellum_device_uuid(device, uuid, &error), VELLUM_OK);
  EXPECT_TRUE(std::ranges::equal(uuid, Device::adopt(app.device()).info().uuid));
}

// A session whose input and output are bound to buffers of the application.
class CRecording : public CVulkanDevice {
 protected:
  void SetUp() override {
    open();
    run(x, want);
    vellum_buffer_layout in{}, out{};
    in.size = out.size = sizeof in;
    ASSERT_EQ(vellum_session_input_buffer(session, "x", &in, &error), VELLUM_OK) << error.message;
    ASSERT_EQ(vellum_session_output_buffer(session, "y", &out, &error), VELLUM_OK) << error.message;
    EXPECT_EQ(in.element, VELLUM_F32);
    input = app.make_buffer(in.bytes, vk::BufferUsageFlags(in.usage));
    output = app.make_buffer(out.bytes, vk::BufferUsageFlags(out.usage));
    std::memcpy(input.data, x.data(), x.byte_size());
    const vellum_buffer_binding bound_input{"x", *input.buffer, 0, in.bytes},
        bound_output{"y", *output.buffer, 0, out.bytes};
    ASSERT_EQ(vellum_session_bind(session, &bound_input, 1, &bound_output, 1, &recording, &error), VELLUM_OK)
        << error.message;
  }
  ~CRecording() override { vellum_recording_destroy(recording); }

  void expect_result_in_buffer() {
    EXPECT_EQ(std::memcmp(output.data, want.data(), want.byte_size()), 0);
    std::memset(output.data, 0, output.bytes);
  }

  Tensor x = random_tensor({1, 3, 9, 11}, 1), want{DType::f32, {1, 2, 4, 5}};
  AppBuffer input, output;
  vellum_recording* recording = nullptr;
};

TEST_F(CRecording, IsRecordedInTheApplicationsCommands) {
  submit([&](const vk::raii::CommandBuffer& commands) {
    EXPECT_EQ(vellum_recording_record(recording, *commands, &error), VELLUM_OK) << error.message;
  });
  expect_result_in_buffer();
}

TEST_F(CRecording, IsSubmittedWithLocksOfTheQueue) {
  const int before = locks.locked;
  EXPECT_EQ(vellum_recording_submit(recording, nullptr, 0, nullptr, 0, &error), VELLUM_OK) << error.message;
  app.queue().waitIdle();
  expect_result_in_buffer();
  EXPECT_GT(locks.locked, before);
  EXPECT_EQ(locks.locked, locks.unlocked);
}

TEST_F(CRecording, WaitsForTheSemaphoreThatARunSignals) {
  const vk::raii::Semaphore done(app.handle(), vk::SemaphoreCreateInfo());
  const vellum_semaphore signal{*done, 0, 0};
  const vellum_input_values values{"x", x.data(), x.byte_size(), nullptr, 0};
  Tensor got(DType::f32, {1, 2, 4, 5});
  const vellum_output_values to{"y", got.mutable_data(), got.byte_size()};
  vellum_run* run = nullptr;
  ASSERT_EQ(vellum_session_submit_after(session, &values, 1, &to, 1, nullptr, 0, &signal, 1, &run, &error),
            VELLUM_OK)
      << error.message;
  EXPECT_EQ(vellum_recording_submit(recording, &signal, 1, nullptr, 0, &error), VELLUM_OK) << error.message;
  EXPECT_EQ(vellum_run_wait(run, &error), VELLUM_OK) << error.message;
  EXPECT_EQ(std::memcmp(got.data(), want.data(), want.byte_size()), 0);
  vellum_run_destroy(run);
  app.queue().waitIdle();
  expect_result_in_buffer();
}

TEST_F(CRecording, RefusesNullHandles) {
  submit([&](const vk::raii::CommandBuffer& commands) {
    expect_status(vellum_recording_record(recording, nullptr, &error), VELLUM_INVALID_ARGUMENT);
    expect_status(vellum_recording_record(nullptr, *commands, &error), VELLUM_INVALID_ARGUMENT);
  });
}

TEST_F(CRecording, NeedsEveryInput) {
  vellum_recording* none = recording;
  expect_status(vellum_session_bind(session, nullptr, 0, nullptr, 0, &none, &error), VELLUM_INVALID_ARGUMENT,
                "'x' is not bound");
  EXPECT_EQ(none, nullptr);
}

TEST_F(CVulkanDevice, RefusesFramesInHardwareBuffersByName) {
  open();
  vellum_hardware_frames* frames = nullptr;
  expect_status(vellum_hardware_frames_create(session, "x", 0, &frames, &error), VELLUM_UNSUPPORTED,
                "VK_ANDROID_external_memory_android_hardware_buffer");
  EXPECT_EQ(frames, nullptr);
  EXPECT_EQ(vellum_hardware_frames_create(session, "z", 0, &frames, &error), VELLUM_NOT_FOUND);
  EXPECT_EQ(vellum_hardware_frames_create(nullptr, "x", 0, &frames, &error), VELLUM_INVALID_ARGUMENT);
  EXPECT_EQ(vellum_hardware_frames_run(nullptr, nullptr, 1, 1, &error), VELLUM_INVALID_ARGUMENT);
  EXPECT_EQ(vellum_external_image_external_format(nullptr), 0u);
  vellum_hardware_frames_destroy(nullptr);
}

// Counts allocations of the application's device.
struct CountingAllocator {
  explicit CountingAllocator(const VulkanApp& app)
      : device(app.device().device),
        allocate(function<PFN_vkAllocateMemory>(app, "vkAllocateMemory")),
        free(function<PFN_vkFreeMemory>(app, "vkFreeMemory")),
        map(function<PFN_vkMapMemory>(app, "vkMapMemory")) {}

  // Functions for vellum_vulkan_device, `user` is a CountingAllocator.
  static vellum_device_memory allocate_memory(void* user, VkDeviceSize bytes, uint32_t type, VkDeviceSize) {
    auto& own = *static_cast<CountingAllocator*>(user);
    vellum_device_memory memory{};
    const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, bytes, type};
    if (own.allocate(own.device, &info, nullptr, &memory.memory) != VK_SUCCESS) return {};
    own.map(own.device, memory.memory, 0, VK_WHOLE_SIZE, 0, &memory.mapped);
    ++own.live, ++own.made;
    return memory;
  }
  static void free_memory(void* user, const vellum_device_memory* memory) {
    auto& own = *static_cast<CountingAllocator*>(user);
    own.free(own.device, memory->memory, nullptr);
    --own.live;
  }

  template <typename Function>
  static Function function(const VulkanApp& app, const char* name) {
    return reinterpret_cast<Function>(app.handle().getProcAddr(name));
  }

  VkDevice device;
  PFN_vkAllocateMemory allocate;
  PFN_vkFreeMemory free;
  PFN_vkMapMemory map;
  int live = 0, made = 0;
};

TEST_F(CVulkanDevice, TakesMemoryOfTheApplicationsAllocator) {
  CountingAllocator allocator(app);
  vellum_vulkan_device mine = application_device();
  mine.memory_user = &allocator;
  mine.allocate_memory = &CountingAllocator::allocate_memory;
  mine.free_memory = &CountingAllocator::free_memory;
  open(mine);
  Tensor y(DType::f32, {1, 2, 4, 5});
  run(random_tensor({1, 3, 9, 11}, 1), y);
  EXPECT_GT(allocator.made, 3);
  EXPECT_EQ(vulkan.allocations(), 0u) << "Vellum calls vkAllocateMemory";
  vellum_session_destroy(std::exchange(session, nullptr));
  vellum_model_destroy(std::exchange(model, nullptr));
  vellum_device_destroy(std::exchange(device, nullptr));
  EXPECT_EQ(allocator.live, 0);
}

TEST_F(CVulkanDevice, RefusesAnAllocatorThatDoesNotFree) {
  vellum_vulkan_device mine = application_device();
  mine.allocate_memory = &CountingAllocator::allocate_memory;
  expect_status(vellum_device_adopt(&mine, nullptr, &device, &error), VELLUM_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace vellum::test
