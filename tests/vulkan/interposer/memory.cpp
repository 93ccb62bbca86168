// Counts the bytes that are allocated, lets allocations fail, and changes what types of memory a device has.
#include <algorithm>

#include "vulkan/interposer/state.hpp"

namespace vellum::test::interposed {
namespace {

VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                        const VkAllocationCallbacks* callbacks, VkDeviceMemory* memory) {
  ++state().objects_made;
  const std::lock_guard lock(state().mutex);
  if (state().allocations_left == 0) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  if (state().mapped_heap_full && info->memoryTypeIndex == state().memory_types)
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  --state().allocations_left;
  VkMemoryAllocateInfo real = *info;
  if (real.memoryTypeIndex == state().memory_types) real.memoryTypeIndex = 0;
  const VkResult result = real_device_function<PFN_vkAllocateMemory>(device, "vkAllocateMemory")(
      device, &real, callbacks, memory);
  if (result == VK_SUCCESS) {
    state().allocations[*memory] = info->allocationSize;
    state().bytes += info->allocationSize;
    state().peak_bytes = std::max(state().peak_bytes, state().bytes);
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                       const VkAllocationCallbacks* callbacks) {
  const std::lock_guard lock(state().mutex);
  if (const auto found = state().allocations.find(memory); found != state().allocations.end()) {
    state().bytes -= found->second;
    state().allocations.erase(found);
  }
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

// Invents a type of memory that is the only one with DEVICE_LOCAL.
void add_device_local_type(VkPhysicalDeviceMemoryProperties& properties, VkMemoryPropertyFlags flags,
                           uint32_t heap) {
  for (uint32_t i = 0; i < properties.memoryTypeCount; ++i)
    properties.memoryTypes[i].propertyFlags &= ~VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
  properties.memoryTypes[properties.memoryTypeCount++] = {flags | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, heap};
}

VKAPI_ATTR void VKAPI_CALL memory_properties(VkPhysicalDevice device,
                                             VkPhysicalDeviceMemoryProperties* properties) {
  real_instance_function<PFN_vkGetPhysicalDeviceMemoryProperties>("vkGetPhysicalDeviceMemoryProperties")(
      device, properties);
  state().memory_types = properties->memoryTypeCount;
  if (state().memory_split) add_device_local_type(*properties, 0, properties->memoryTypes[0].heapIndex);
  if (state().mapped_heap_full) {
    properties->memoryHeaps[properties->memoryHeapCount] = {256 << 20, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    add_device_local_type(*properties,
                          VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                          properties->memoryHeapCount++);
  }
  if (state().coherent_hidden)
    for (uint32_t i = 0; i < properties->memoryTypeCount; ++i)
      properties->memoryTypes[i].propertyFlags &=
          ~VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_HOST_COHERENT_BIT};
}

// The invented type is the first one in disguise.
void offer_invented_type(VkMemoryRequirements& requirements) {
  if (state().memory_split || state().mapped_heap_full)
    requirements.memoryTypeBits |= (requirements.memoryTypeBits & 1) << state().memory_types;
}

VKAPI_ATTR void VKAPI_CALL buffer_requirements(VkDevice device, VkBuffer buffer,
                                               VkMemoryRequirements* requirements) {
  real_device_function<PFN_vkGetBufferMemoryRequirements>(device, "vkGetBufferMemoryRequirements")(
      device, buffer, requirements);
  offer_invented_type(*requirements);
}

VKAPI_ATTR VkResult VKAPI_CALL map_memory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                                          VkDeviceSize size, VkMemoryMapFlags flags, void** data) {
  ++state().maps;
  return state().map_memory(device, memory, offset, size, flags, data);
}

}  // namespace

PFN_vkVoidFunction memory_function(VkDevice device, std::string_view name) {
  if (name == "vkAllocateMemory") return reinterpret_cast<PFN_vkVoidFunction>(allocate);
  if (name == "vkFreeMemory") return reinterpret_cast<PFN_vkVoidFunction>(free_memory);
  if (name == "vkGetBufferMemoryRequirements")
    return reinterpret_cast<PFN_vkVoidFunction>(buffer_requirements);
  if (name == "vkFlushMappedMemoryRanges") return reinterpret_cast<PFN_vkVoidFunction>(flush);
  if (name == "vkInvalidateMappedMemoryRanges") return reinterpret_cast<PFN_vkVoidFunction>(invalidate);
  if (name == "vkMapMemory") return wrapped(state().map_memory, map_memory, device, name);
  return nullptr;
}

PFN_vkVoidFunction memory_instance_function(std::string_view name) {
  if (name == "vkGetPhysicalDeviceMemoryProperties")
    return reinterpret_cast<PFN_vkVoidFunction>(memory_properties);
  return nullptr;
}

}  // namespace vellum::test::interposed
