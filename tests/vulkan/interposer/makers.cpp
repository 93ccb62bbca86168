// Counts the calls that make Vulkan objects or begin to record commands.
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "vulkan/interposer/state.hpp"

namespace vellum::test::interposed {
namespace {

// The functions that objects_made() counts besides vkAllocateMemory.
constexpr std::array kMakers{"vkBeginCommandBuffer",       "vkCreateBuffer",         "vkCreateImage",
                             "vkCreateBufferView",         "vkCreateImageView",      "vkCreateFence",
                             "vkCreateSemaphore",          "vkCreateCommandPool",    "vkCreateDescriptorPool",
                             "vkCreateComputePipelines",   "vkCreatePipelineLayout", "vkCreateQueryPool",
                             "vkCreateDescriptorSetLayout"};
static_assert(kMakers.size() <= std::tuple_size_v<decltype(State::makers)>);

template <size_t index, typename Result, typename... Arguments>
VKAPI_ATTR Result VKAPI_CALL counted(Arguments... arguments) {
  ++state().objects_made;
  if constexpr (std::string_view(kMakers[index]) == "vkBeginCommandBuffer")
    note_begin(std::get<0>(std::tuple(arguments...)));
  if constexpr (std::string_view(kMakers[index]) == "vkCreateComputePipelines") ++state().pipelines_made;
  return reinterpret_cast<Result(VKAPI_PTR*)(Arguments...)>(state().makers[index])(arguments...);
}

template <size_t index>
PFN_vkVoidFunction counting() {
  constexpr std::string_view name = kMakers[index];
  if constexpr (name == "vkBeginCommandBuffer")
    return reinterpret_cast<PFN_vkVoidFunction>(
        counted<index, VkResult, VkCommandBuffer, const VkCommandBufferBeginInfo*>);
  else if constexpr (name == "vkCreateComputePipelines")
    return reinterpret_cast<PFN_vkVoidFunction>(
        counted<index, VkResult, VkDevice, VkPipelineCache, uint32_t, const VkComputePipelineCreateInfo*,
                const VkAllocationCallbacks*, VkPipeline*>);
  else  // all others have this form; handles are 64 bits, or pointers to them
    return reinterpret_cast<PFN_vkVoidFunction>(
        counted<index, VkResult, VkDevice, const void*, const VkAllocationCallbacks*, void*>);
}

template <size_t... index>
PFN_vkVoidFunction find_counting(std::string_view wanted, VkDevice device, std::index_sequence<index...>) {
  PFN_vkVoidFunction found = nullptr;
  const auto try_one = [&](size_t position, PFN_vkVoidFunction function) {
    if (wanted != kMakers[position]) return;
    state().makers[position] = state().device_function(device, kMakers[position]);
    found = function;
  };
  (try_one(index, counting<index>()), ...);
  return found;
}

}  // namespace

PFN_vkVoidFunction counting_function(VkDevice device, std::string_view name) {
  return find_counting(name, device, std::make_index_sequence<kMakers.size()>());
}

}  // namespace vellum::test::interposed
