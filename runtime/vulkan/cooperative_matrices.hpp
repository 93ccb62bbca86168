// Detects the products of cooperative matrices (caps/cooperative_matrix.hpp) of a device that Vellum can use.
#pragma once

#include <functional>
#include <vulkan/vulkan_raii.hpp>

#include "caps/device_caps.hpp"

namespace vellum::gpu {

// Sets caps.cooperative_matrices, or caps.cooperative_obstacle to the reason why there are none. All other
// caps must be set already. `has_extension` returns whether the device has an extension.
void fill_cooperative_matrices(DeviceCaps& caps, const vk::raii::PhysicalDevice& device,
                               const std::function<bool(const char*)>& has_extension);

// The chain of features that shaders with the matrices of `caps` need, for VkDeviceCreateInfo. Must live
// until the device is created.
class CooperativeFeatures {
 public:
  // Puts the features before `next` in the chain, and adds the names of their extensions.
  CooperativeFeatures(const DeviceCaps& caps, void* next, std::vector<const char*>& extensions);
  CooperativeFeatures(const CooperativeFeatures&) = delete;
  CooperativeFeatures& operator=(const CooperativeFeatures&) = delete;

  void* chain() { return chain_; }

 private:
  vk::PhysicalDeviceVulkanMemoryModelFeatures memory_model_{VK_TRUE};
  vk::PhysicalDeviceCooperativeMatrixFeaturesNV nv_{VK_TRUE};
#ifdef VK_KHR_cooperative_matrix
  vk::PhysicalDeviceCooperativeMatrixFeaturesKHR khr_{VK_TRUE};
#endif
  void* chain_;
};

}  // namespace vellum::gpu
