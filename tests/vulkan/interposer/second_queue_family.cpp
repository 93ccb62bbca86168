// A queue family for transfers, after those of the device; it stands for the first of these.
#include "vulkan/interposer/state.hpp"

namespace vellum::test::interposed {
namespace {

uint32_t real_family(uint32_t family) { return family == state().queue_families ? 0 : family; }

VKAPI_ATTR void VKAPI_CALL queue_families(VkPhysicalDevice device, uint32_t* count,
                                          VkQueueFamilyProperties* families) {
  const auto real = real_instance_function<PFN_vkGetPhysicalDeviceQueueFamilyProperties>(
      "vkGetPhysicalDeviceQueueFamilyProperties");
  real(device, &state().queue_families, nullptr);
  const uint32_t all = state().queue_families + 1;
  if (families != nullptr) {
    real(device, count, families);
    families[all - 1] = {VK_QUEUE_TRANSFER_BIT, 1, 0, {1, 1, 1}};
  }
  *count = all;
}

VKAPI_ATTR void VKAPI_CALL device_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue* queue) {
  real_device_function<PFN_vkGetDeviceQueue>(device, "vkGetDeviceQueue")(device, real_family(family), index,
                                                                         queue);
}

VKAPI_ATTR VkResult VKAPI_CALL create_command_pool(VkDevice device, const VkCommandPoolCreateInfo* info,
                                                   const VkAllocationCallbacks* callbacks,
                                                   VkCommandPool* pool) {
  VkCommandPoolCreateInfo real = *info;
  real.queueFamilyIndex = real_family(real.queueFamilyIndex);
  return real_device_function<PFN_vkCreateCommandPool>(device, "vkCreateCommandPool")(device, &real,
                                                                                      callbacks, pool);
}

// A buffer or image that is shared by the real family and its disguise is not shared.
template <typename Info>
Info unshared(Info info) {
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  info.queueFamilyIndexCount = 0;
  info.pQueueFamilyIndices = nullptr;
  return info;
}

VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks, VkBuffer* buffer) {
  const VkBufferCreateInfo real = unshared(*info);
  return real_device_function<PFN_vkCreateBuffer>(device, "vkCreateBuffer")(device, &real, callbacks, buffer);
}

VKAPI_ATTR VkResult VKAPI_CALL create_image(VkDevice device, const VkImageCreateInfo* info,
                                            const VkAllocationCallbacks* callbacks, VkImage* image) {
  const VkImageCreateInfo real = unshared(*info);
  return real_device_function<PFN_vkCreateImage>(device, "vkCreateImage")(device, &real, callbacks, image);
}

}  // namespace

PFN_vkVoidFunction second_queue_family_function(std::string_view name) {
  if (!state().transfer_queue) return nullptr;
  if (name == "vkGetPhysicalDeviceQueueFamilyProperties") return reinterpret_cast<PFN_vkVoidFunction>(queue_families);
  if (name == "vkGetDeviceQueue") return reinterpret_cast<PFN_vkVoidFunction>(device_queue);
  if (name == "vkCreateCommandPool") return reinterpret_cast<PFN_vkVoidFunction>(create_command_pool);
  if (name == "vkCreateBuffer") return reinterpret_cast<PFN_vkVoidFunction>(create_buffer);
  if (name == "vkCreateImage") return reinterpret_cast<PFN_vkVoidFunction>(create_image);
  return nullptr;
}

}  // namespace vellum::test::interposed
