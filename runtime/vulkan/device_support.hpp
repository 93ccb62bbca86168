// The extensions and features of a device that Vellum may use: those that the device has, or for an adopted
// device those that the application enabled.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

// A feature: a VkBool32 member of its own structure and, if it is core, also of a
// VkPhysicalDeviceVulkan1xFeatures.
struct Feature {
  const char* name;
  vk::StructureType structure;
  size_t bytes, offset;  // size of the structure, offset of the member
  std::optional<vk::StructureType> core = {};
  size_t core_offset = 0;
};

#define VELLUM_FEATURE(structure, member)                                                         \
  ::vellum::gpu::Feature {                                                                        \
#member, vk::structure::structureType, sizeof(Vk##structure), offsetof(Vk##structure, member) \
  }
#define VELLUM_CORE_FEATURE(structure, member, core)                                               \
  ::vellum::gpu::Feature {                                                                         \
#member, vk::structure::structureType, sizeof(Vk##structure), offsetof(Vk##structure, member), \
        vk::core::structureType, offsetof(Vk##core, member)                                        \
  }

inline constexpr Feature kStorageBuffer16Bit = VELLUM_CORE_FEATURE(
    PhysicalDevice16BitStorageFeatures, storageBuffer16BitAccess, PhysicalDeviceVulkan11Features);
inline constexpr Feature kShaderFloat16 = VELLUM_CORE_FEATURE(PhysicalDeviceShaderFloat16Int8Features,
                                                              shaderFloat16, PhysicalDeviceVulkan12Features);
inline constexpr Feature kShaderInt8 =
    VELLUM_CORE_FEATURE(PhysicalDeviceShaderFloat16Int8Features, shaderInt8, PhysicalDeviceVulkan12Features);
inline constexpr Feature kMemoryModel = VELLUM_CORE_FEATURE(
    PhysicalDeviceVulkanMemoryModelFeatures, vulkanMemoryModel, PhysicalDeviceVulkan12Features);
inline constexpr Feature kMemoryModelDeviceScope = VELLUM_CORE_FEATURE(
    PhysicalDeviceVulkanMemoryModelFeatures, vulkanMemoryModelDeviceScope, PhysicalDeviceVulkan12Features);
inline constexpr Feature kSubgroupSizeControl = VELLUM_CORE_FEATURE(
    PhysicalDeviceSubgroupSizeControlFeatures, subgroupSizeControl, PhysicalDeviceVulkan13Features);
inline constexpr Feature kFullSubgroups = VELLUM_CORE_FEATURE(
    PhysicalDeviceSubgroupSizeControlFeatures, computeFullSubgroups, PhysicalDeviceVulkan13Features);
inline constexpr Feature kIntegerDotProduct = VELLUM_CORE_FEATURE(
    PhysicalDeviceShaderIntegerDotProductFeatures, shaderIntegerDotProduct, PhysicalDeviceVulkan13Features);
inline constexpr Feature kMaintenance4 =
    VELLUM_CORE_FEATURE(PhysicalDeviceMaintenance4Features, maintenance4, PhysicalDeviceVulkan13Features);
inline constexpr Feature kSamplerYcbcrConversion = VELLUM_CORE_FEATURE(
    PhysicalDeviceSamplerYcbcrConversionFeatures, samplerYcbcrConversion, PhysicalDeviceVulkan11Features);
// Vellum never enables this feature; applications do, for their own semaphores.
inline constexpr Feature kTimelineSemaphore = VELLUM_CORE_FEATURE(
    PhysicalDeviceTimelineSemaphoreFeatures, timelineSemaphore, PhysicalDeviceVulkan12Features);
// Features of VkPhysicalDeviceFeatures2. Vellum does not enable them in an application's chain, because the
// application may use VkDeviceCreateInfo::pEnabledFeatures instead.
inline constexpr Feature kExtendedStorageFormats =
    VELLUM_FEATURE(PhysicalDeviceFeatures2, features.shaderStorageImageExtendedFormats);
inline constexpr Feature kWritesWithoutFormat =
    VELLUM_FEATURE(PhysicalDeviceFeatures2, features.shaderStorageImageWriteWithoutFormat);
inline constexpr Feature kPipelineExecutableInfo =
    VELLUM_FEATURE(PhysicalDevicePipelineExecutablePropertiesFeaturesKHR, pipelineExecutableInfo);
inline constexpr Feature kCooperativeMatrixNv =
    VELLUM_FEATURE(PhysicalDeviceCooperativeMatrixFeaturesNV, cooperativeMatrix);
#ifdef VK_KHR_cooperative_matrix
inline constexpr Feature kCooperativeMatrixKhr =
    VELLUM_FEATURE(PhysicalDeviceCooperativeMatrixFeaturesKHR, cooperativeMatrix);
#endif

// The extensions and features that an application enabled on its device, from VkDeviceCreateInfo and its
// pNext chain.
struct EnabledFeatures {
  std::span<const char* const> extensions;
  const void* chain = nullptr;

  bool has(const char* extension) const;
  bool has(const Feature& feature) const;
};

class DeviceSupport {
 public:
  // enabled: the application's choice; null: everything that the device has.
  DeviceSupport(const vk::raii::PhysicalDevice& device, const EnabledFeatures* enabled);

  // Whether the device has the extension, enabled or not.
  bool offers(const char* extension) const;
  bool has(const char* extension) const;
  // Whether the device has the feature and, if adopted, the application enabled it. Call it only for features
  // whose structure the device knows, by its version of Vulkan or by an extension.
  bool has(const Feature& feature) const;

 private:
  const vk::raii::PhysicalDevice& device_;
  const EnabledFeatures* enabled_;
  std::vector<vk::ExtensionProperties> extensions_;
};

// A chain of structures of features for VkDeviceCreateInfo::pNext.
class FeatureChain {
 public:
  // Begins with the caller's chain, which may be empty (null).
  explicit FeatureChain(void* head = nullptr) : head_(head) {}

  // Enables the feature in the structure of the chain that has it, or else in a new structure at its head.
  void enable(const Feature& feature);
  void* head() const { return head_; }

 private:
  void* head_;
  std::vector<std::unique_ptr<std::byte[]>> structures_;
};

}  // namespace vellum::gpu
