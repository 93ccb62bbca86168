#include "worst_device/bar_heap.hpp"

#include <map>
#include <mutex>
#include <string_view>
#include <type_traits>

namespace vellum::test {
namespace {

constexpr VkDeviceSize kHeap = 256 << 20, kTakenByOthers = kHeap - (64 << 10);

struct BarHeap {
  std::mutex mutex;
  uint32_t first_type = 0;  // of the two invented ones: the device's memory, and what the host maps of it
  VkDeviceSize taken = kTakenByOthers;
  std::map<VkDeviceMemory, VkDeviceSize> allocations;
  PFN_vkAllocateMemory allocate = nullptr;
  PFN_vkFreeMemory free = nullptr;
  PFN_vkGetBufferMemoryRequirements buffer = nullptr;
  PFN_vkGetImageMemoryRequirements image = nullptr;
  PFN_vkGetBufferMemoryRequirements2 buffer2 = nullptr;
  PFN_vkGetImageMemoryRequirements2 image2 = nullptr;
  PFN_vkGetDeviceBufferMemoryRequirements device_buffer = nullptr;
  PFN_vkGetDeviceImageMemoryRequirements device_image = nullptr;

  uint32_t mapped_type() const { return first_type + 1; }
};

BarHeap& bar_heap() {
  static BarHeap heap;
  return heap;
}

VKAPI_ATTR VkResult VKAPI_CALL allocate_of_heap(VkDevice device, const VkMemoryAllocateInfo* info,
                                                const VkAllocationCallbacks* callbacks,
                                                VkDeviceMemory* memory) {
  BarHeap& heap = bar_heap();
  const std::lock_guard lock(heap.mutex);
  const bool is_mapped = info->memoryTypeIndex == heap.mapped_type();
  if (is_mapped && info->allocationSize > kHeap - heap.taken) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  VkMemoryAllocateInfo real = *info;
  if (real.memoryTypeIndex >= heap.first_type) real.memoryTypeIndex = 0;
  const VkResult result = heap.allocate(device, &real, callbacks, memory);
  if (result == VK_SUCCESS && is_mapped) {
    heap.allocations[*memory] = info->allocationSize;
    heap.taken += info->allocationSize;
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL free_of_heap(VkDevice device, VkDeviceMemory memory,
                                        const VkAllocationCallbacks* callbacks) {
  BarHeap& heap = bar_heap();
  const std::lock_guard lock(heap.mutex);
  if (const auto found = heap.allocations.find(memory); found != heap.allocations.end()) {
    heap.taken -= found->second;
    heap.allocations.erase(found);
  }
  heap.free(device, memory, callbacks);
}

// Adds the two imitations of the first memory type wherever the driver offers that type.
void offer(VkMemoryRequirements& requirements) {
  if (requirements.memoryTypeBits & 1) requirements.memoryTypeBits |= 3u << bar_heap().first_type;
}
void offer(VkMemoryRequirements2& requirements) { offer(requirements.memoryRequirements); }

template <auto kReal, typename What, typename Requirements>
VKAPI_ATTR void VKAPI_CALL get_requirements(VkDevice device, What what, Requirements* requirements) {
  (bar_heap().*kReal)(device, what, requirements);
  offer(*requirements);
}

}  // namespace

void add_bar_heap(VkPhysicalDeviceMemoryProperties& properties) {
  constexpr VkMemoryPropertyFlags kOwn = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  const std::lock_guard lock(bar_heap().mutex);
  bar_heap().first_type = properties.memoryTypeCount;
  for (uint32_t i = 0; i < properties.memoryTypeCount; ++i) properties.memoryTypes[i].propertyFlags &= ~kOwn;
  properties.memoryTypes[properties.memoryTypeCount++] = {kOwn, properties.memoryTypes[0].heapIndex};
  properties.memoryTypes[properties.memoryTypeCount++] = {
      kOwn | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
      properties.memoryHeapCount};
  properties.memoryHeaps[properties.memoryHeapCount++] = {kHeap, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
}

PFN_vkVoidFunction bar_heap_function(VkDevice device, const char* name, PFN_vkGetDeviceProcAddr driver) {
  const std::string_view wanted(name);
  const auto wrapped = [&](auto& kept, auto* wrapper) {
    kept = reinterpret_cast<std::remove_reference_t<decltype(kept)>>(driver(device, name));
    return kept ? reinterpret_cast<PFN_vkVoidFunction>(wrapper) : nullptr;
  };
  BarHeap& heap = bar_heap();
  if (wanted == "vkAllocateMemory") return wrapped(heap.allocate, allocate_of_heap);
  if (wanted == "vkFreeMemory") return wrapped(heap.free, free_of_heap);
  if (wanted == "vkGetBufferMemoryRequirements")
    return wrapped(heap.buffer, get_requirements<&BarHeap::buffer, VkBuffer, VkMemoryRequirements>);
  if (wanted == "vkGetImageMemoryRequirements")
    return wrapped(heap.image, get_requirements<&BarHeap::image, VkImage, VkMemoryRequirements>);
  if (wanted == "vkGetBufferMemoryRequirements2")
    return wrapped(
        heap.buffer2,
        get_requirements<&BarHeap::buffer2, const VkBufferMemoryRequirementsInfo2*, VkMemoryRequirements2>);
  if (wanted == "vkGetImageMemoryRequirements2")
    return wrapped(
        heap.image2,
        get_requirements<&BarHeap::image2, const VkImageMemoryRequirementsInfo2*, VkMemoryRequirements2>);
  if (wanted == "vkGetDeviceBufferMemoryRequirements")
    return wrapped(heap.device_buffer,
                   get_requirements<&BarHeap::device_buffer, const VkDeviceBufferMemoryRequirements*,
                                    VkMemoryRequirements2>);
  if (wanted == "vkGetDeviceImageMemoryRequirements")
    return wrapped(heap.device_image,
                   get_requirements<&BarHeap::device_image, const VkDeviceImageMemoryRequirements*,
                                    VkMemoryRequirements2>);
  return nullptr;
}

}  // namespace vellum::test
