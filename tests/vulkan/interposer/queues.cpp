// Counts submits, dispatches, labels and waits, and lets them fail or do nothing.
#include <cstddef>
#include <cstring>

#include "vulkan/interposer/state.hpp"

namespace vellum::test::interposed {
namespace {

VKAPI_ATTR VkResult VKAPI_CALL queue_submit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits,
                                            VkFence fence) {
  if (state().submits_left == 0) return VK_ERROR_OUT_OF_HOST_MEMORY;
  --state().submits_left;
  ++state().submits;
  for (uint32_t i = 0; i < count; ++i)
    if (submits[i].waitSemaphoreCount > 0) ++state().waiting_submits;
  {
    const std::lock_guard lock(state().mutex);
    uint32_t dispatches = 0;
    for (uint32_t i = 0; i < count; ++i)
      for (uint32_t c = 0; c < submits[i].commandBufferCount; ++c)
        dispatches += state().dispatches[submits[i].pCommandBuffers[c]];
    state().submitted_dispatches.push_back(dispatches);
  }
  return state().queue_submit(queue, count, submits, fence);
}

VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  {
    const std::lock_guard lock(state().mutex);
    ++state().dispatches[commands];
  }
  if (!state().dispatches_skipped) state().dispatch(commands, x, y, z);
}

VKAPI_ATTR void VKAPI_CALL dispatch_base(VkCommandBuffer commands, uint32_t first_x, uint32_t first_y,
                                         uint32_t first_z, uint32_t x, uint32_t y, uint32_t z) {
  {
    const std::lock_guard lock(state().mutex);
    ++state().dispatches[commands];
  }
  if (!state().dispatches_skipped) state().dispatch_base(commands, first_x, first_y, first_z, x, y, z);
}

VKAPI_ATTR void VKAPI_CALL begin_label(VkCommandBuffer commands, const VkDebugUtilsLabelEXT* label) {
  {
    const std::lock_guard lock(state().mutex);
    state().labels.emplace_back(label->pLabelName);
  }
  state().begin_label(commands, label);
}

VKAPI_ATTR VkResult VKAPI_CALL set_object_name(VkDevice device, const VkDebugUtilsObjectNameInfoEXT* info) {
  {
    const std::lock_guard lock(state().mutex);
    state().object_names.emplace_back(info->pObjectName);
  }
  return state().set_object_name(device, info);
}

VKAPI_ATTR VkResult VKAPI_CALL wait_for_fences(VkDevice device, uint32_t count, const VkFence* fences,
                                               VkBool32 all, uint64_t timeout) {
  ++state().waits;
  if (state().device_lost) return VK_ERROR_DEVICE_LOST;
  return state().wait_for_fences(device, count, fences, all, timeout);
}

VKAPI_ATTR VkResult VKAPI_CALL queue_wait_idle(VkQueue queue) {
  ++state().waits;
  return state().queue_wait_idle(queue);
}

VKAPI_ATTR VkResult VKAPI_CALL device_wait_idle(VkDevice device) {
  ++state().waits;
  return state().device_wait_idle(device);
}

VKAPI_ATTR VkResult VKAPI_CALL query_results(VkDevice device, VkQueryPool pool, uint32_t first,
                                             uint32_t count, size_t bytes, void* data, VkDeviceSize stride,
                                             VkQueryResultFlags flags) {
  if (state().late_queries > 0) {
    --state().late_queries;
    return VK_NOT_READY;
  }
  const VkResult result = state().query_results(device, pool, first, count, bytes, data, stride, flags);
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t ticks = 0;
    std::byte* const at = static_cast<std::byte*>(data) + i * stride;
    std::memcpy(&ticks, at, sizeof ticks);
    ticks *= state().tick_factor;
    std::memcpy(at, &ticks, sizeof ticks);
  }
  return result;
}

}  // namespace

void note_begin(VkCommandBuffer commands) {
  const std::lock_guard lock(state().mutex);
  state().dispatches[commands] = 0;
}

PFN_vkVoidFunction queue_function(VkDevice device, std::string_view name) {
  if (name == "vkQueueSubmit") return wrapped(state().queue_submit, queue_submit, device, name);
  if (name == "vkWaitForFences") return wrapped(state().wait_for_fences, wait_for_fences, device, name);
  if (name == "vkQueueWaitIdle") return wrapped(state().queue_wait_idle, queue_wait_idle, device, name);
  if (name == "vkDeviceWaitIdle") return wrapped(state().device_wait_idle, device_wait_idle, device, name);
  if (name == "vkGetQueryPoolResults") return wrapped(state().query_results, query_results, device, name);
  if (name == "vkCmdDispatch") return wrapped(state().dispatch, dispatch, device, name);
  if (name == "vkCmdDispatchBase") return wrapped(state().dispatch_base, dispatch_base, device, name);
  if (!state().device_function(device, name.data())) return nullptr;
  if (name == "vkCmdBeginDebugUtilsLabelEXT") return wrapped(state().begin_label, begin_label, device, name);
  if (name == "vkSetDebugUtilsObjectNameEXT")
    return wrapped(state().set_object_name, set_object_name, device, name);
  return nullptr;
}

}  // namespace vellum::test::interposed
