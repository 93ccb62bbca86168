// The state of a FaultyDriver, which the functions that it gives to Vulkan share.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "faulty_driver/faulty_driver.hpp"
#include "platform/dynamic_library.hpp"

namespace vellum::test {

struct FaultyState {
  DriverFault fault = DriverFault::none;
  std::string shader;
  std::mutex mutex;
  platform::DynamicLibrary loader;
  PFN_vkGetInstanceProcAddr instance_function = nullptr;
  PFN_vkGetDeviceProcAddr device_function = nullptr;
  PFN_vkEnumerateDeviceExtensionProperties list_extensions = nullptr;
  PFN_vkGetPhysicalDeviceFeatures2 features = nullptr;
  PFN_vkGetPhysicalDeviceProperties2 properties = nullptr;
  PFN_vkCreateShaderModule create_module = nullptr;
  PFN_vkCreateComputePipelines create_pipelines = nullptr;
  PFN_vkCreatePipelineCache create_cache = nullptr;
  PFN_vkCmdBindPipeline bind_pipeline = nullptr;
  PFN_vkCmdDispatch dispatch = nullptr;
  PFN_vkBeginCommandBuffer begin_commands = nullptr;
  PFN_vkQueueSubmit submit = nullptr;
  PFN_vkWaitForFences wait_for_fences = nullptr;
  PFN_vkGetFenceStatus fence_status = nullptr;
  std::set<VkShaderModule> modules;       // with the name
  std::set<VkPipeline> pipelines;         // of these modules
  std::map<VkCommandBuffer, bool> bound;  // one of these pipelines is bound
  std::set<VkCommandBuffer> dispatching;  // these run such a pipeline
  uint32_t submits = 0;                   // with them
  std::set<VkFence> fences;               // of their submits
  std::atomic<uint32_t> waits{0};         // under way
  std::atomic<uint32_t> late_answers{0};
  PFN_vkGetQueryPoolResults query_results = nullptr;
  std::atomic<bool> works_on{false};  // though it said that it is lost
  PFN_vkFreeMemory free_memory = nullptr;
  PFN_vkDestroyBuffer destroy_buffer = nullptr;
  PFN_vkDestroyCommandPool destroy_pool = nullptr;
  PFN_vkDestroyFence destroy_fence = nullptr;
  PFN_vkQueueWaitIdle wait_idle = nullptr;
  // The bindings of each descriptor set, and the memory that dispatches wrote: a buffer and an offset, or a
  // view.
  using Written = std::pair<uint64_t, uint64_t>;
  PFN_vkAllocateDescriptorSets allocate_sets = nullptr;
  PFN_vkUpdateDescriptorSets update_sets = nullptr;
  PFN_vkCmdBindDescriptorSets bind_sets = nullptr;
  std::map<VkDescriptorSet, std::map<uint32_t, Written>> sets;
  std::map<VkCommandBuffer, VkDescriptorSet> bound_set;
  std::map<VkShaderModule, std::set<uint32_t>> outputs_of_module;
  std::map<VkPipeline, std::set<uint32_t>> outputs_of_pipeline;
  std::map<VkCommandBuffer, std::set<uint32_t>> bound_outputs;
  std::map<VkCommandBuffer, std::set<Written>> written;
};

// The state of the driver; null without one.
std::unique_ptr<FaultyState>& faulty_state();
inline FaultyState& faulty() { return *faulty_state(); }

// Ends the process as a crash does, without destructors.
[[noreturn]] void end_process();

// Keeps the driver's own function, and returns the one that stands for it.
template <typename Kept, typename Wrapper>
PFN_vkVoidFunction wrapped_function(PFN_vkVoidFunction real, Kept& kept, Wrapper* wrapper) {
  kept = reinterpret_cast<Kept>(real);
  return reinterpret_cast<PFN_vkVoidFunction>(wrapper);
}

// The functions of an instance with DriverFault::ends_in_matrices_query; null for those that the fault leaves
// alone.
PFN_vkVoidFunction matrices_function(std::string_view wanted, PFN_vkVoidFunction real);

}  // namespace vellum::test
