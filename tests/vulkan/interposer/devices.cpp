// Hides drivers, devices and extensions, and offers extensions that the device does not have.
#include <algorithm>
#include <vector>

#include "vulkan/interposer/state.hpp"

namespace vellum::test::interposed {
namespace {

VKAPI_ATTR VkResult VKAPI_CALL enumerate_devices(VkInstance instance, uint32_t* count,
                                                 VkPhysicalDevice* devices) {
  if (state().devices_hidden || (state().portability_device && !state().portability_enumerated)) {
    *count = 0;
    return VK_SUCCESS;
  }
  return real_instance_function<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices")(instance, count,
                                                                                              devices);
}

constexpr std::string_view kPortabilitySubset = "VK_KHR_portability_subset";

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                               const VkAllocationCallbacks* callbacks, VkInstance* instance) {
  ++state().instances_made;
  if (state().drivers_hidden) return VK_ERROR_INCOMPATIBLE_DRIVER;
  const auto* const* extensions = info->ppEnabledExtensionNames;
  state().portability_enumerated =
      (info->flags & VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR) != 0 &&
      std::any_of(extensions, extensions + info->enabledExtensionCount, [](std::string_view extension) {
        return extension == VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
      });
  const auto real =
      reinterpret_cast<PFN_vkCreateInstance>(state().instance_function(VK_NULL_HANDLE, "vkCreateInstance"));
  return real(info, callbacks, instance);
}

// Extensions that are offered in place of the driver.
std::vector<std::string_view> invented_extensions() {
  std::vector<std::string_view> names;
  if (state().portability_device) names.push_back(kPortabilitySubset);
  if (state().offers_global_priority) names.push_back(VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME);
  return names;
}

// The real extensions and the invented ones.
VKAPI_ATTR VkResult VKAPI_CALL device_extensions(VkPhysicalDevice device, const char* layer, uint32_t* count,
                                                 VkExtensionProperties* extensions) {
  const auto real = real_instance_function<PFN_vkEnumerateDeviceExtensionProperties>(
      "vkEnumerateDeviceExtensionProperties");
  if (state().extensions_hidden) {
    *count = 0;
    return VK_SUCCESS;
  }
  uint32_t real_count = 0;
  real(device, layer, &real_count, nullptr);
  if (extensions != nullptr) {
    real(device, layer, &real_count, extensions);
    uint32_t next = real_count;
    for (const std::string_view name : invented_extensions()) {
      extensions[next] = {};
      name.copy(extensions[next++].extensionName, name.size());
    }
  }
  *count = real_count + static_cast<uint32_t>(invented_extensions().size());
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks, VkDevice* device) {
  ++state().devices_made;
  std::vector<VkDeviceQueueCreateInfo> queues;
  for (uint32_t i = 0; i < info->queueCreateInfoCount; ++i)
    if (info->pQueueCreateInfos[i].queueFamilyIndex != state().queue_families)
      queues.push_back(info->pQueueCreateInfos[i]);
  for (VkDeviceQueueCreateInfo& queue : queues) {
    if (!queue.pNext) continue;
    const auto* chained = static_cast<const VkDeviceQueueGlobalPriorityCreateInfoKHR*>(queue.pNext);
    state().global_priority = chained->globalPriority;
    if (state().offers_global_priority) queue.pNext = nullptr;
  }
  if (state().global_priority == VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR) return VK_ERROR_NOT_PERMITTED_KHR;
  VkDeviceCreateInfo real = *info;
  std::vector<const char*> extensions(info->ppEnabledExtensionNames,
                                      info->ppEnabledExtensionNames + info->enabledExtensionCount);
  const auto subset = std::find(extensions.begin(), extensions.end(), kPortabilitySubset);
  if (state().portability_device && subset == extensions.end()) return VK_ERROR_INITIALIZATION_FAILED;
  std::erase_if(extensions, [invented = invented_extensions()](std::string_view name) {
    return std::ranges::find(invented, name) != invented.end();
  });
  real.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  real.ppEnabledExtensionNames = extensions.data();
  real.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
  real.pQueueCreateInfos = queues.data();
  return real_instance_function<PFN_vkCreateDevice>("vkCreateDevice")(physical, &real, callbacks, device);
}

}  // namespace

PFN_vkVoidFunction device_instance_function(std::string_view name) {
  if (name == "vkEnumeratePhysicalDevices") return reinterpret_cast<PFN_vkVoidFunction>(enumerate_devices);
  if (name == "vkCreateInstance") return reinterpret_cast<PFN_vkVoidFunction>(create_instance);
  if (name == "vkCreateDevice") return reinterpret_cast<PFN_vkVoidFunction>(create_device);
  if (name == "vkEnumerateDeviceExtensionProperties" && (state().extensions_hidden || !invented_extensions().empty()))
    return reinterpret_cast<PFN_vkVoidFunction>(device_extensions);
  return nullptr;
}

}  // namespace vellum::test::interposed
