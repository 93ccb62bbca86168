// The C interface for applications with a Vulkan device of their own.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/tensors.hpp"
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
  void open() {
    const vellum_vulkan_device mine = application_device();
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

}  // namespace
}  // namespace vellum::test
