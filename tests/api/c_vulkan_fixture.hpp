// A session of the C interface on a Vulkan device of the application.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/tensors.hpp"
#include "vellum/vellum_vulkan.h"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {

// How often Vellum locked the application's queue.
struct Locks {
  int locked = 0, unlocked = 0;
};

class CVulkanDevice : public testing::Test {
 protected:
  CVulkanDevice() : app(vulkan.get_instance_proc_addr(), {.own_structures = true}) {}
  ~CVulkanDevice() override {
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

  // Runs the small model, whose input is x and whose output is y.
  void run(const Tensor& x, Tensor& y) {
    ASSERT_EQ(vellum_session_set_input(session, "x", x.data(), x.byte_size(), &error), VELLUM_OK);
    ASSERT_EQ(vellum_session_run(session, &error), VELLUM_OK) << error.message;
    ASSERT_EQ(vellum_session_get_output(session, "y", y.mutable_data(), y.byte_size(), &error), VELLUM_OK);
  }
  // Expects that the last call returned a status, with a text in its message.
  void expect_status(vellum_status status, vellum_status want, const std::string& part = "") {
    EXPECT_EQ(status, want) << error.message;
    EXPECT_NE(std::string(error.message).find(part), std::string::npos) << error.message;
  }
  // Records, submits and waits.
  template <typename Record>
  void submit(Record&& record) {
    const vk::raii::CommandBuffer commands = app.make_commands();
    commands.begin(vk::CommandBufferBeginInfo());
    record(commands);
    commands.end();
    app.submit_and_wait(commands);
  }

  Interposer vulkan;
  VulkanApp app;
  Locks locks;
  vellum_error error{};
  vellum_device* device = nullptr;
  vellum_model* model = nullptr;
  vellum_session* session = nullptr;
};

}  // namespace vellum::test
