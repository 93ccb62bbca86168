// A Vulkan layer that fails calls when a program asks for it, and counts allocations: VK_LAYER_VELLUM_faults,
// which VK_INSTANCE_LAYERS loads from the folder of its manifest (VK_LAYER_PATH). A program reaches the
// functions at the end by opening this library again.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "support/vulkan_layer.hpp"

namespace vellum::test {
namespace {

std::atomic<bool> loses_devices = false;                // with their next vkQueueSubmit
std::atomic<uint64_t> largest_allocation = UINT64_MAX;  // larger ones are out of device memory

std::atomic<uint64_t> live_allocations = 0;

PFN_vkGetInstanceProcAddr next_instance_function = nullptr;
std::mutex mutex;
VkInstance newest_instance = nullptr;
// Queues and devices begin with the dispatch table that the loader gave their device.
std::map<void*, PFN_vkGetDeviceProcAddr> next_device_function;
std::map<void*, VkDevice> device_of;
std::set<void*> lost;  // the tables of devices that were lost

void* table_of(const void* handle) { return *static_cast<void* const*>(handle); }

template <typename Function>
Function next(const void* handle, const char* name) {
  const std::lock_guard lock(mutex);
  void* const table = table_of(handle);
  return reinterpret_cast<Function>(next_device_function.at(table)(device_of.at(table), name));
}

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                               const VkAllocationCallbacks* callbacks, VkInstance* instance) {
  const VkResult result = create_next_instance(info, callbacks, instance, next_instance_function);
  if (result == VK_SUCCESS) newest_instance = *instance;
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks, VkDevice* device) {
  PFN_vkGetDeviceProcAddr functions = nullptr;
  const VkResult result = create_next_device(newest_instance, physical, info, callbacks, device, functions);
  if (result != VK_SUCCESS) return result;
  const std::lock_guard lock(mutex);
  next_device_function[table_of(*device)] = functions;
  device_of[table_of(*device)] = *device;
  lost.erase(table_of(*device));  // the address of a table may be used again
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                        const VkAllocationCallbacks* callbacks, VkDeviceMemory* memory) {
  if (info->allocationSize > largest_allocation) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  const VkResult result =
      next<PFN_vkAllocateMemory>(device, "vkAllocateMemory")(device, info, callbacks, memory);
  if (result == VK_SUCCESS) ++live_allocations;
  return result;
}

VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                       const VkAllocationCallbacks* callbacks) {
  if (memory) --live_allocations;
  next<PFN_vkFreeMemory>(device, "vkFreeMemory")(device, memory, callbacks);
}

VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo* infos,
                                      VkFence fence) {
  {
    const std::lock_guard lock(mutex);
    if (loses_devices) lost.insert(table_of(queue));
    if (lost.contains(table_of(queue))) return VK_ERROR_DEVICE_LOST;
  }
  return next<PFN_vkQueueSubmit>(queue, "vkQueueSubmit")(queue, count, infos, fence);
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
  if (is("vkQueueSubmit")) return reinterpret_cast<PFN_vkVoidFunction>(submit);
  return nullptr;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name) {
  if (const auto own = own_function(name)) return own;
  PFN_vkGetDeviceProcAddr functions = nullptr;
  {
    const std::lock_guard lock(mutex);
    functions = next_device_function.at(table_of(device));
  }
  return functions(device, name);
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

// From now on the first submit of each device loses it, and it stays lost. `lose` 0: other devices are not
// lost.
VELLUM_EXPORT void vellum_lose_devices(int lose) { vellum::test::loses_devices = lose != 0; }
// From now on allocations of more bytes are out of device memory; UINT64_MAX ends that.
VELLUM_EXPORT void vellum_limit_allocations(uint64_t bytes) { vellum::test::largest_allocation = bytes; }
// The number of allocations of device memory that were not freed.
VELLUM_EXPORT uint64_t vellum_live_allocations() { return vellum::test::live_allocations; }
