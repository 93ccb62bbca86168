// Shared by the functions of the interposer: its settings, its counts, and the driver's functions.
#pragma once

#include <vulkan/vulkan_core.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "platform/dynamic_library.hpp"

namespace vellum::test::interposed {

struct State {
  std::mutex mutex;
  platform::DynamicLibrary loader;
  PFN_vkGetInstanceProcAddr instance_function = nullptr;
  PFN_vkGetDeviceProcAddr device_function = nullptr;
  VkInstance instance = VK_NULL_HANDLE;
  std::map<VkDeviceMemory, VkDeviceSize> allocations;
  uint64_t bytes = 0, peak_bytes = 0;
  uint32_t allocations_left = UINT32_MAX;
  bool devices_hidden = false, version_hidden = false, coherent_hidden = false, memory_split = false;
  bool mapped_heap_full = false;
  bool drivers_hidden = false, portability_device = false, portability_enumerated = false;
  uint32_t memory_types = 0;  // real ones
  bool transfer_queue = false;
  uint32_t queue_families = UINT32_MAX;  // real ones
  uint32_t submits = 0, waiting_submits = 0, submits_left = UINT32_MAX;
  PFN_vkQueueSubmit queue_submit = nullptr;
  std::atomic<uint32_t> objects_made = 0, instances_made = 0, devices_made = 0, maps = 0, waits = 0;
  PFN_vkMapMemory map_memory = nullptr;
  PFN_vkQueueWaitIdle queue_wait_idle = nullptr;
  PFN_vkDeviceWaitIdle device_wait_idle = nullptr;
  PFN_vkWaitForFences wait_for_fences = nullptr;
  PFN_vkGetQueryPoolResults query_results = nullptr;
  uint32_t late_queries = 0;
  uint64_t tick_factor = 1;
  std::atomic<bool> device_lost = false;
  std::array<PFN_vkVoidFunction, 14> makers{};
  std::vector<VkMappedMemoryRange> ranges;
  std::map<VkCommandBuffer, uint32_t> dispatches;  // recorded
  std::vector<uint32_t> submitted_dispatches;
  std::vector<std::string> labels, object_names;
  std::atomic<uint32_t> pipelines_made = 0, miscompiled = 0;
  std::string miscompiled_name;
  PFN_vkCreateShaderModule create_shader_module = nullptr;
  bool dispatches_skipped = false, offers_global_priority = false, extensions_hidden = false;
  VkQueueGlobalPriorityKHR global_priority{};
  PFN_vkCmdDispatch dispatch = nullptr;
  PFN_vkCmdDispatchBase dispatch_base = nullptr;
  PFN_vkCmdBeginDebugUtilsLabelEXT begin_label = nullptr;
  PFN_vkSetDebugUtilsObjectNameEXT set_object_name = nullptr;
};

State& state();
void reset_state();

template <typename Function>
Function real_device_function(VkDevice device, const char* name) {
  return reinterpret_cast<Function>(state().device_function(device, name));
}

template <typename Function>
Function real_instance_function(const char* name) {
  return reinterpret_cast<Function>(state().instance_function(state().instance, name));
}

// Keeps the driver's function in `real` and returns the one that calls it.
template <typename Function>
PFN_vkVoidFunction wrapped(Function& real, Function wrapper, VkDevice device, std::string_view name) {
  real = real_device_function<Function>(device, name.data());
  return reinterpret_cast<PFN_vkVoidFunction>(wrapper);
}

// The interposer's function of that name, or null where it has none.
PFN_vkVoidFunction memory_function(VkDevice device, std::string_view name);
PFN_vkVoidFunction queue_function(VkDevice device, std::string_view name);
PFN_vkVoidFunction second_queue_family_function(std::string_view name);
PFN_vkVoidFunction shader_function(VkDevice device, std::string_view name);
PFN_vkVoidFunction counting_function(VkDevice device, std::string_view name);
PFN_vkVoidFunction memory_instance_function(std::string_view name);
PFN_vkVoidFunction device_instance_function(std::string_view name);

// Forgets the dispatches that were recorded into the command buffer before.
void note_begin(VkCommandBuffer commands);

}  // namespace vellum::test::interposed
