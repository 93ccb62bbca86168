// Which products of cooperative matrices (caps/cooperative_matrix.hpp) a device has that Vellum can use.
#pragma once

#include <functional>
#include <vulkan/vulkan_raii.hpp>

#include "caps/device_caps.hpp"

namespace vellum::gpu {

// Fills in cooperative_matrices or cooperative_obstacle; `caps` has all the rest of what the device can do.
// `has_extension` tells of the device's extensions by name.
void fill_cooperative_matrices(DeviceCaps& caps, const vk::raii::PhysicalDevice& device,
                               const std::function<bool(const char*)>& has_extension);

// The features that shaders with the matrices of `caps` need, for VkDeviceCreateInfo. Adds the extensions'
// names; lives until the device is made.
class CooperativeFeatures {
 public:
  // `next` follows in the chain.
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
