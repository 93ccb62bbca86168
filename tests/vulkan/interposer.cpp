#include "vulkan/interposer.hpp"

#include <array>
#include <map>
#include <mutex>
#include <string_view>

#include "platform/dynamic_library.hpp"

namespace vellum::test {
namespace {

struct State {
  std::mutex mutex;
  platform::DynamicLibrary loader;
  PFN_vkGetInstanceProcAddr instance_function = nullptr;
  PFN_vkGetDeviceProcAddr device_function = nullptr;
  VkInstance instance = VK_NULL_HANDLE;
  std::map<VkDeviceMemory, VkDeviceSize> allocations;
  uint32_t allocations_left = UINT32_MAX;
  bool devices_hidden = false, version_hidden = false, coherent_hidden = false, memory_split = false;
  uint32_t memory_types = 0;  // real ones
  std::vector<VkMappedMemoryRange> ranges;
};

State& state() {
  static State the_state;
  return the_state;
}

template <typename Function>
Function real_device_function(VkDevice device, const char* name) {
  return reinterpret_cast<Function>(state().device_function(device, name));
}

template <typename Function>
Function real_instance_function(const char* name) {
  return reinterpret_cast<Function>(state().instance_function(state().instance, name));
}

VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                        const VkAllocationCallbacks* callbacks, VkDeviceMemory* memory) {
  const std::lock_guard lock(state().mutex);
  if (state().allocations_left == 0) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  --state().allocations_left;
  VkMemoryAllocateInfo real = *info;
  if (real.memoryTypeIndex == state().memory_types) real.memoryTypeIndex = 0;
  const VkResult result = real_device_function<PFN_vkAllocateMemory>(device, "vkAllocateMemory")(
      device, &real, callbacks, memory);
  if (result == VK_SUCCESS) state().allocations[*memory] = info->allocationSize;
  return result;
}

VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                       const VkAllocationCallbacks* callbacks) {
  const std::lock_guard lock(state().mutex);
  state().allocations.erase(memory);
  real_device_function<PFN_vkFreeMemory>(device, "vkFreeMemory")(device, memory, callbacks);
}

void note_ranges(uint32_t count, const VkMappedMemoryRange* ranges) {
  const std::lock_guard lock(state().mutex);
  state().ranges.insert(state().ranges.end(), ranges, ranges + count);
}

VKAPI_ATTR VkResult VKAPI_CALL flush(VkDevice device, uint32_t count, const VkMappedMemoryRange* ranges) {
  note_ranges(count, ranges);
  return real_device_function<PFN_vkFlushMappedMemoryRanges>(device, "vkFlushMappedMemoryRanges")(
      device, count, ranges);
}

VKAPI_ATTR VkResult VKAPI_CALL invalidate(VkDevice device, uint32_t count,
                                          const VkMappedMemoryRange* ranges) {
  note_ranges(count, ranges);
  return real_device_function<PFN_vkInvalidateMappedMemoryRanges>(device, "vkInvalidateMappedMemoryRanges")(
      device, count, ranges);
}

VKAPI_ATTR VkResult VKAPI_CALL enumerate_devices(VkInstance instance, uint32_t* count,
                                                 VkPhysicalDevice* devices) {
  if (state().devices_hidden) {
    *count = 0;
    return VK_SUCCESS;
  }
  return real_instance_function<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices")(instance, count,
                                                                                              devices);
}

VKAPI_ATTR void VKAPI_CALL memory_properties(VkPhysicalDevice device,
                                             VkPhysicalDeviceMemoryProperties* properties) {
  real_instance_function<PFN_vkGetPhysicalDeviceMemoryProperties>("vkGetPhysicalDeviceMemoryProperties")(
      device, properties);
  state().memory_types = properties->memoryTypeCount;
  if (state().memory_split) {
    for (uint32_t i = 0; i < properties->memoryTypeCount; ++i)
      properties->memoryTypes[i].propertyFlags &= ~VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
    properties->memoryTypes[properties->memoryTypeCount++] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                                              properties->memoryTypes[0].heapIndex};
  }
  if (state().coherent_hidden)
    for (uint32_t i = 0; i < properties->memoryTypeCount; ++i)
      properties->memoryTypes[i].propertyFlags &=
          ~VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_HOST_COHERENT_BIT};
}

// The invented type is the first one in disguise.
void offer_invented_type(VkMemoryRequirements& requirements) {
  if (state().memory_split)
    requirements.memoryTypeBits |= (requirements.memoryTypeBits & 1) << state().memory_types;
}

VKAPI_ATTR void VKAPI_CALL buffer_requirements(VkDevice device, VkBuffer buffer,
                                               VkMemoryRequirements* requirements) {
  real_device_function<PFN_vkGetBufferMemoryRequirements>(device, "vkGetBufferMemoryRequirements")(
      device, buffer, requirements);
  offer_invented_type(*requirements);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name) {
  const std::string_view wanted(name);
  if (wanted == "vkGetDeviceProcAddr") return reinterpret_cast<PFN_vkVoidFunction>(get_device_function);
  if (wanted == "vkAllocateMemory") return reinterpret_cast<PFN_vkVoidFunction>(allocate);
  if (wanted == "vkFreeMemory") return reinterpret_cast<PFN_vkVoidFunction>(free_memory);
  if (wanted == "vkGetBufferMemoryRequirements")
    return reinterpret_cast<PFN_vkVoidFunction>(buffer_requirements);
  if (wanted == "vkFlushMappedMemoryRanges") return reinterpret_cast<PFN_vkVoidFunction>(flush);
  if (wanted == "vkInvalidateMappedMemoryRanges") return reinterpret_cast<PFN_vkVoidFunction>(invalidate);
  return state().device_function(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance instance, const char* name) {
  const std::string_view wanted(name);
  if (instance) state().instance = instance;
  if (wanted == "vkGetInstanceProcAddr") return reinterpret_cast<PFN_vkVoidFunction>(get_instance_function);
  if (wanted == "vkEnumerateInstanceVersion" && state().version_hidden) return nullptr;
  if (wanted == "vkEnumeratePhysicalDevices") return reinterpret_cast<PFN_vkVoidFunction>(enumerate_devices);
  if (wanted == "vkGetPhysicalDeviceMemoryProperties")
    return reinterpret_cast<PFN_vkVoidFunction>(memory_properties);
  if (wanted == "vkGetDeviceProcAddr") {
    state().device_function =
        reinterpret_cast<PFN_vkGetDeviceProcAddr>(state().instance_function(instance, "vkGetDeviceProcAddr"));
    return reinterpret_cast<PFN_vkVoidFunction>(get_device_function);
  }
  return state().instance_function(instance, name);
}

void clear() {
  State& s = state();
  s.loader = {};
  s.instance_function = nullptr, s.device_function = nullptr;
  s.instance = VK_NULL_HANDLE;
  s.allocations.clear(), s.ranges.clear();
  s.allocations_left = UINT32_MAX;
  s.devices_hidden = s.version_hidden = s.coherent_hidden = s.memory_split = false;
}

}  // namespace

Interposer::Interposer() {
  constexpr std::array names{"libvulkan.so.1", "libvulkan.so", "vulkan-1.dll"};
  state().loader = platform::DynamicLibrary::open(names);
  state().instance_function =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(state().loader.symbol("vkGetInstanceProcAddr"));
}

Interposer::~Interposer() { clear(); }

PFN_vkGetInstanceProcAddr Interposer::get_instance_proc_addr() const { return get_instance_function; }

uint64_t Interposer::allocated_bytes() const {
  const std::lock_guard lock(state().mutex);
  uint64_t bytes = 0;
  for (const auto& [memory, size] : state().allocations) bytes += size;
  return bytes;
}

uint32_t Interposer::allocations() const {
  const std::lock_guard lock(state().mutex);
  return static_cast<uint32_t>(state().allocations.size());
}

void Interposer::fail_allocations_after(uint32_t successes) { state().allocations_left = successes; }
void Interposer::hide_devices() { state().devices_hidden = true; }
void Interposer::hide_instance_version() { state().version_hidden = true; }
void Interposer::split_memory() { state().memory_split = true; }
void Interposer::hide_coherent_memory() { state().coherent_hidden = true; }
const std::vector<VkMappedMemoryRange>& Interposer::synchronised_ranges() const { return state().ranges; }

}  // namespace vellum::test
