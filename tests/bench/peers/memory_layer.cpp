// A Vulkan layer that counts the bytes that a process allocates, of any engine: VK_LAYER_VELLUM_memory, which
// VK_INSTANCE_LAYERS loads from the folder of its manifest (VK_LAYER_PATH). The functions at the end return
// the counts; a program reaches them by opening this library again. One device at a time is counted.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "support/vulkan_layer.hpp"

namespace vellum::test {
namespace {

struct Counts {
  std::mutex mutex;
  std::map<VkDeviceMemory, uint64_t> allocations;
  uint64_t bytes = 0, peak = 0;
};

Counts& counts() {
  static Counts counts;
  return counts;
}

PFN_vkGetInstanceProcAddr next_instance_function = nullptr;
PFN_vkGetDeviceProcAddr next_device_function = nullptr;
VkInstance current_instance = nullptr;

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                               const VkAllocationCallbacks* callbacks, VkInstance* instance) {
  const VkResult result = create_next_instance(info, callbacks, instance, next_instance_function);
  if (result == VK_SUCCESS) current_instance = *instance;
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks, VkDevice* device) {
  return create_next_device(current_instance, physical, info, callbacks, device, next_device_function);
}

VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                        const VkAllocationCallbacks* callbacks, VkDeviceMemory* memory) {
  const VkResult result = reinterpret_cast<PFN_vkAllocateMemory>(
      next_device_function(device, "vkAllocateMemory"))(device, info, callbacks, memory);
  if (result != VK_SUCCESS) return result;
  const std::lock_guard lock(counts().mutex);
  counts().allocations[*memory] = info->allocationSize;
  counts().bytes += info->allocationSize;
  counts().peak = std::max(counts().peak, counts().bytes);
  return result;
}

VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                       const VkAllocationCallbacks* callbacks) {
  {
    const std::lock_guard lock(counts().mutex);
    if (const auto found = counts().allocations.find(memory); found != counts().allocations.end()) {
      counts().bytes -= found->second;
      counts().allocations.erase(found);
    }
  }
  reinterpret_cast<PFN_vkFreeMemory>(next_device_function(device, "vkFreeMemory"))(device, memory, callbacks);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance instance, const char* name);

PFN_vkVoidFunction own_function(const char* name) {
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("vkGetInstanceProcAddr")) return reinterpret_cast<PFN_vkVoidFunction>(get_instance_function);
  if (is("vkGetDeviceProcAddr")) return reinterpret_cast<PFN_vkVoidFunction>(get_device_function);
  if (is("vkCreateInstance")) return reinterpret_cast<PFN_vkVoidFunction>(create_instance);
  if (is("vkCreateDevice")) return reinterpret_cast<PFN_vkVoidFunction>(create_device);
  if (is("vkAllocateMemory")) return reinterpret_cast<PFN_vkVoidFunction>(allocate);
  if (is("vkFreeMemory")) return reinterpret_cast<PFN_vkVoidFunction>(free_memory);
  return nullptr;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name) {
  const auto own = own_function(name);
  return own ? own : next_device_function(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance instance, const char* name) {
  const auto own = own_function(name);
  return own ? own : next_instance_function(instance, name);
}

}  // namespace
}  // namespace vellum::test

VELLUM_EXPORT VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* interface) {
  return vellum::test::negotiate(*interface, vellum::test::get_instance_function,
                                 vellum::test::get_device_function);
}

VELLUM_EXPORT uint64_t vellum_allocated_bytes() {
  const std::lock_guard lock(vellum::test::counts().mutex);
  return vellum::test::counts().bytes;
}

VELLUM_EXPORT uint64_t vellum_peak_bytes() {
  const std::lock_guard lock(vellum::test::counts().mutex);
  return vellum::test::counts().peak;
}
