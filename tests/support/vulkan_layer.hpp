// Helpers of the Vulkan layers of tests: the chain of layers, and the function by which the loader asks a
// layer for its entry points.
#pragma once

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define VELLUM_EXPORT extern "C" __attribute__((visibility("default")))

namespace vellum::test {

// Finds the loader's link to the next layer and advances it for that layer. Null without a link.
template <typename Link, VkStructureType kType, typename Info>
auto* next_link(const Info& info) {
  auto* link = static_cast<Link*>(const_cast<void*>(info.pNext));
  while (link && !(link->sType == kType && link->function == VK_LAYER_LINK_INFO))
    link = static_cast<Link*>(const_cast<void*>(link->pNext));
  auto* const found = link ? link->u.pLayerInfo : nullptr;
  if (found) link->u.pLayerInfo = found->pNext;
  return found;
}

inline auto* next_of_instance(const VkInstanceCreateInfo& info) {
  return next_link<VkLayerInstanceCreateInfo, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO>(info);
}
inline auto* next_of_device(const VkDeviceCreateInfo& info) {
  return next_link<VkLayerDeviceCreateInfo, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO>(info);
}

// Calls vkCreateInstance of the next layer, and stores that layer's vkGetInstanceProcAddr in `next_function`.
inline VkResult create_next_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* callbacks,
                                     VkInstance* instance, PFN_vkGetInstanceProcAddr& next_function) {
  const auto* const link = next_of_instance(*info);
  if (!link) return VK_ERROR_INITIALIZATION_FAILED;
  next_function = link->pfnNextGetInstanceProcAddr;
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(next_function(nullptr, "vkCreateInstance"));
  return create(info, callbacks, instance);
}

// Calls vkCreateDevice of the next layer, and stores that layer's vkGetDeviceProcAddr in `next_function`.
inline VkResult create_next_device(VkInstance instance, VkPhysicalDevice physical,
                                   const VkDeviceCreateInfo* info, const VkAllocationCallbacks* callbacks,
                                   VkDevice* device, PFN_vkGetDeviceProcAddr& next_function) {
  const auto* const link = next_of_device(*info);
  if (!link) return VK_ERROR_INITIALIZATION_FAILED;
  next_function = link->pfnNextGetDeviceProcAddr;
  const auto create =
      reinterpret_cast<PFN_vkCreateDevice>(link->pfnNextGetInstanceProcAddr(instance, "vkCreateDevice"));
  return create(physical, info, callbacks, device);
}

// Answers vkNegotiateLoaderLayerInterfaceVersion() of a layer.
inline VkResult negotiate(VkNegotiateLayerInterface& interface, PFN_vkGetInstanceProcAddr of_instance,
                          PFN_vkGetDeviceProcAddr of_device) {
  interface.loaderLayerInterfaceVersion = 2;
  interface.pfnGetInstanceProcAddr = of_instance;
  interface.pfnGetDeviceProcAddr = of_device;
  interface.pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}

}  // namespace vellum::test
