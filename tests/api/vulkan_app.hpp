// An application with a Vulkan instance and a device of its own, as a game or a camera app has. Validation,
// synchronisation validation included, is on; every message fails the test.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>
#include <vulkan/vulkan_raii.hpp>

#include "vellum/vulkan.hpp"

namespace vellum::test {

// The structures of features that the application chains itself.
struct AppFeatures {
  vk::PhysicalDeviceFeatures2 core10;
  vk::PhysicalDeviceVulkan11Features core11;
  vk::PhysicalDeviceVulkan12Features core12;
  vk::PhysicalDeviceVulkan13Features core13;
};

struct AppOptions {
  uint32_t api_version = VK_API_VERSION_1_3;
  // How the device is made: with the features that Vellum would use, in the application's own structures
  // where it has them (`own_structures`), and then changed by `adjust`.
  bool wanted_by_vellum = true;
  bool own_structures = false;
  std::function<void(AppFeatures&, std::vector<const char*>& extensions)> adjust = {};
  const VkAllocationCallbacks* allocation_callbacks = nullptr;
};

inline AppOptions with_timeline_semaphores() {
  return {.own_structures = true,
          .adjust = [](AppFeatures& features, auto&) { features.core12.timelineSemaphore = VK_TRUE; }};
}

struct AppBuffer {
  vk::raii::Buffer buffer{nullptr};
  vk::raii::DeviceMemory memory{nullptr};
  std::byte* data = nullptr;  // mapped and coherent
  uint64_t bytes = 0;
};

// A 2D image in device-local memory, of one layer and level.
struct AppImage {
  vk::raii::Image image{nullptr};
  vk::raii::DeviceMemory memory{nullptr};
  vk::Format format{};
  uint32_t width = 0, height = 0;
};

class VulkanApp {
 public:
  // for_vellum: through which Vellum calls Vulkan; the application itself calls the loader.
  explicit VulkanApp(PFN_vkGetInstanceProcAddr for_vellum, const AppOptions& options = {});

  VulkanPhysicalDevice physical() const;
  // The argument of Device::adopt(), valid as long as the application.
  VulkanDevice device() const;
  const vk::raii::Device& handle() const { return device_; }
  const vk::raii::PhysicalDevice& physical_handle() const { return physical_; }

  AppBuffer make_buffer(uint64_t bytes, vk::BufferUsageFlags usage);
  AppImage make_image(vk::Format format, uint32_t width, uint32_t height, vk::ImageUsageFlags usage,
                      vk::ImageCreateFlags flags = {});
  vk::raii::CommandBuffer make_commands();
  vk::raii::Semaphore make_timeline();  // at 0
  void submit(const vk::raii::CommandBuffer& commands, vk::Fence fence = {}, const void* next = nullptr);
  void submit_and_wait(const vk::raii::CommandBuffer& commands);
  const vk::raii::Queue& queue() const { return queue_; }
  uint32_t family() const { return family_; }

 private:
  vk::raii::DeviceMemory allocate(const vk::MemoryRequirements& needed, vk::MemoryPropertyFlags wanted);

  AppOptions options_;
  PFN_vkGetInstanceProcAddr for_vellum_;
  vk::raii::Context loader_;
  vk::raii::Instance instance_{nullptr};
  vk::raii::DebugUtilsMessengerEXT messenger_{nullptr};
  vk::raii::PhysicalDevice physical_{nullptr};
  AppFeatures features_;
  std::vector<const char*> extensions_;
  const void* chain_ = nullptr;
  std::vector<DeviceRequirements> requirements_;  // keep the structures of the chain
  uint32_t family_ = 0;
  vk::raii::Device device_{nullptr};
  vk::raii::Queue queue_{nullptr};
  vk::raii::CommandPool pool_{nullptr};
};

}  // namespace vellum::test
