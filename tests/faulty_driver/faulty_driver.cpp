#include "faulty_driver/faulty_driver.hpp"

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "faulty_driver/faulty_shaders.hpp"
#include "faulty_driver/faulty_state.hpp"
#include "vulkan/loader.hpp"
#include "worst_device/pessimise.hpp"

namespace vellum::test {

std::unique_ptr<FaultyState>& faulty_state() {
  static std::unique_ptr<FaultyState> the_state;
  return the_state;
}

void end_process() {
  std::raise(SIGKILL);
  std::abort();
}

namespace {

// Whether the fault is one of this shader.
bool is_faulty_shader(const VkShaderModuleCreateInfo& info) {
  if (faulty().fault == DriverFault::wrong_workgroups) {
    std::istringstream shape(faulty().shader);
    std::array<uint32_t, 3> size{1, 1, 1};
    char times = 0;
    shape >> size[0] >> times >> size[1];
    return has_local_size({info.pCode, info.codeSize / sizeof(uint32_t)}, size);
  }
  const std::string_view code(reinterpret_cast<const char*>(info.pCode), info.codeSize);
  return code.find(faulty().shader) != code.npos;
}

// What the driver compiles in its place.
std::vector<uint32_t> compiled_shader(const VkShaderModuleCreateInfo& info) {
  const std::span<const uint32_t> code(info.pCode, info.codeSize / sizeof(uint32_t));
  if (faulty().fault == DriverFault::truncates_halves) return pessimise(code, {.truncating_halves = true});
  if (faulty().fault == DriverFault::miscompiles && is_faulty_shader(info)) return with_wrong_sums(code);
  return {code.begin(), code.end()};
}

VKAPI_ATTR VkResult VKAPI_CALL create_faulty_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                                    const VkAllocationCallbacks* callbacks,
                                                    VkShaderModule* module) {
  const std::vector<uint32_t> words = compiled_shader(*info);
  VkShaderModuleCreateInfo compiled = *info;
  compiled.pCode = words.data();
  compiled.codeSize = words.size() * sizeof(uint32_t);
  const VkResult result = faulty().create_module(device, &compiled, callbacks, module);
  const std::lock_guard lock(faulty().mutex);
  if (faulty().fault == DriverFault::recycles_wrongly && result == VK_SUCCESS)
    faulty().outputs_of_module[*module] = written_bindings({info->pCode, info->codeSize / sizeof(uint32_t)});
  if (result == VK_SUCCESS && is_faulty_shader(*info))
    faulty().modules.insert(*module);
  else if (result == VK_SUCCESS)
    faulty().modules.erase(*module);  // a handle of an earlier module that was destroyed
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_faulty_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                                       const VkComputePipelineCreateInfo* infos,
                                                       const VkAllocationCallbacks* callbacks,
                                                       VkPipeline* pipelines) {
  bool is_faulty = false;
  {
    const std::lock_guard lock(faulty().mutex);
    is_faulty = faulty().modules.contains(infos->stage.module);
  }
  if (is_faulty && faulty().fault == DriverFault::ends_in_pipeline) end_process();
  if (is_faulty && faulty().fault == DriverFault::refuses_pipeline) return VK_ERROR_UNKNOWN;
  const VkResult result = faulty().create_pipelines(device, cache, count, infos, callbacks, pipelines);
  const std::lock_guard lock(faulty().mutex);
  faulty().outputs_of_pipeline[*pipelines] = faulty().outputs_of_module[infos->stage.module];
  if (is_faulty)
    faulty().pipelines.insert(*pipelines);
  else
    faulty().pipelines.erase(*pipelines);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_faulty_cache(VkDevice device, const VkPipelineCacheCreateInfo* info,
                                                   const VkAllocationCallbacks* callbacks,
                                                   VkPipelineCache* cache) {
  if (faulty().fault == DriverFault::ends_in_stored_cache && info->initialDataSize > 0) end_process();
  return faulty().create_cache(device, info, callbacks, cache);
}

VKAPI_ATTR VkResult VKAPI_CALL begin_faulty_commands(VkCommandBuffer commands,
                                                     const VkCommandBufferBeginInfo* info) {
  {
    const std::lock_guard lock(faulty().mutex);
    faulty().dispatching.erase(commands);
    faulty().written.erase(commands);
  }
  return faulty().begin_commands(commands, info);
}

VKAPI_ATTR void VKAPI_CALL bind_faulty_pipeline(VkCommandBuffer commands, VkPipelineBindPoint point,
                                                VkPipeline pipeline) {
  {
    const std::lock_guard lock(faulty().mutex);
    faulty().bound[commands] = faulty().pipelines.contains(pipeline);
    faulty().bound_outputs[commands] = faulty().outputs_of_pipeline[pipeline];
  }
  faulty().bind_pipeline(commands, point, pipeline);
}

template <typename Handle>
uint64_t number_of(Handle handle) {
  uint64_t number = 0;
  static_assert(sizeof handle <= sizeof number);
  std::memcpy(&number, &handle, sizeof handle);
  return number;
}

VKAPI_ATTR VkResult VKAPI_CALL allocate_faulty_sets(VkDevice device, const VkDescriptorSetAllocateInfo* info,
                                                    VkDescriptorSet* sets) {
  const VkResult result = faulty().allocate_sets(device, info, sets);
  const std::lock_guard lock(faulty().mutex);
  if (result == VK_SUCCESS)  // handles of earlier sets that were freed
    for (const VkDescriptorSet set : std::span(sets, info->descriptorSetCount)) faulty().sets.erase(set);
  return result;
}

VKAPI_ATTR void VKAPI_CALL update_faulty_sets(VkDevice device, uint32_t count,
                                              const VkWriteDescriptorSet* writes, uint32_t copies,
                                              const VkCopyDescriptorSet* copy) {
  {
    const std::lock_guard lock(faulty().mutex);
    for (const VkWriteDescriptorSet& write : std::span(writes, count)) {
      FaultyState::Written& written = faulty().sets[write.dstSet][write.dstBinding];
      if (write.pBufferInfo)
        written = {number_of(write.pBufferInfo->buffer), write.pBufferInfo->offset};
      else if (write.pImageInfo)
        written = {number_of(write.pImageInfo->imageView), 0};
      else if (write.pTexelBufferView)
        written = {number_of(*write.pTexelBufferView), 0};
    }
  }
  faulty().update_sets(device, count, writes, copies, copy);
}

VKAPI_ATTR void VKAPI_CALL bind_faulty_sets(VkCommandBuffer commands, VkPipelineBindPoint point,
                                            VkPipelineLayout layout, uint32_t first, uint32_t count,
                                            const VkDescriptorSet* sets, uint32_t offset_count,
                                            const uint32_t* offsets) {
  {
    const std::lock_guard lock(faulty().mutex);
    faulty().bound_set[commands] = sets[0];
  }
  faulty().bind_sets(commands, point, layout, first, count, sets, offset_count, offsets);
}

// Whether an earlier dispatch of these commands wrote where this one does.
bool writes_again(VkCommandBuffer commands) {
  auto& bindings = faulty().sets[faulty().bound_set[commands]];
  bool again = false;
  for (const uint32_t output : faulty().bound_outputs[commands])
    again |= !faulty().written[commands].insert(bindings[output]).second;
  return again;
}

VKAPI_ATTR void VKAPI_CALL faulty_dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  {
    const std::lock_guard lock(faulty().mutex);
    if (x > 0 && faulty().bound[commands]) {
      faulty().dispatching.insert(commands);
      if (faulty().fault == DriverFault::computes_nothing) return;
    }
    if (faulty().fault == DriverFault::recycles_wrongly && x > 0 && writes_again(commands)) return;
  }
  constexpr uint32_t kMany = 32768;
  if (faulty().fault == DriverFault::drops_workgroups && x >= kMany) x /= 2;
  faulty().dispatch(commands, x, y, z);
}

VKAPI_ATTR VkResult VKAPI_CALL faulty_submit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits,
                                             VkFence fence) {
  {
    const std::lock_guard lock(faulty().mutex);
    bool is_faulty = false;
    for (uint32_t i = 0; i < count; ++i)
      for (uint32_t c = 0; c < submits[i].commandBufferCount; ++c)
        is_faulty |= faulty().dispatching.contains(submits[i].pCommandBuffers[c]);
    if (is_faulty && faulty().fault == DriverFault::ends_in_dispatch) end_process();
    if (is_faulty && fence)
      faulty().fences.insert(fence);
    else
      faulty().fences.erase(fence);
    constexpr uint32_t kPeriod = 5;
    constexpr uint32_t kRarePeriod = 9;  // odd: a check runs each kernel with two inputs in turn
    if (is_faulty && faulty().fault == DriverFault::skips_some_runs && ++faulty().submits % kPeriod == 0)
      count = 0;
    if (is_faulty && faulty().fault == DriverFault::wrong_workgroups && ++faulty().submits % kRarePeriod == 0)
      count = 0;
  }
  return faulty().submit(queue, count, submits, fence);
}

// Returns the false answer that the driver gives of a fence; VK_SUCCESS if it tells the truth.
VkResult answer_for(uint32_t count, const VkFence* fences) {
  const std::lock_guard lock(faulty().mutex);
  for (uint32_t i = 0; i < count; ++i) {
    if (!faulty().fences.contains(fences[i])) continue;
    if (faulty().fault == DriverFault::loses_device) return VK_ERROR_DEVICE_LOST;
    if (faulty().fault == DriverFault::loses_device_at_work) {
      faulty().works_on = true;
      return VK_ERROR_DEVICE_LOST;
    }
    if (faulty().fault == DriverFault::hangs) return VK_TIMEOUT;
  }
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL wait_for_faulty_fences(VkDevice device, uint32_t count, const VkFence* fences,
                                                      VkBool32 all, uint64_t timeout) {
  if (faulty().fault == DriverFault::refuses_concurrent_waits) {
    const bool is_alone = faulty().waits++ == 0;
    const VkResult result =
        is_alone ? faulty().wait_for_fences(device, count, fences, all, timeout) : VK_ERROR_DEVICE_LOST;
    --faulty().waits;
    return result;
  }
  const VkResult answer = answer_for(count, fences);
  const VkResult truth = faulty().wait_for_fences(device, count, fences, all, timeout);
  return answer == VK_SUCCESS ? truth : answer;
}

VKAPI_ATTR VkResult VKAPI_CALL faulty_fence_status(VkDevice device, VkFence fence) {
  const VkResult answer = answer_for(1, &fence);
  if (answer == VK_TIMEOUT) return VK_NOT_READY;
  return answer == VK_SUCCESS ? faulty().fence_status(device, fence) : answer;
}

VKAPI_ATTR VkResult VKAPI_CALL late_results(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t count,
                                            size_t bytes, void* data, VkDeviceSize stride,
                                            VkQueryResultFlags flags) {
  constexpr uint32_t kLate = 3;
  if (faulty().fault == DriverFault::answers_late && faulty().late_answers++ < kLate) return VK_NOT_READY;
  return faulty().query_results(device, pool, first, count, bytes, data, stride, flags);
}

// Calls the driver's function, unless the GPU still uses the object.
template <auto kReal, typename Handle>
VKAPI_ATTR void VKAPI_CALL destroy(VkDevice device, Handle object, const VkAllocationCallbacks* callbacks) {
  if (object && faulty().works_on) end_process();
  (faulty().*kReal)(device, object, callbacks);
}

VKAPI_ATTR VkResult VKAPI_CALL wait_until_idle(VkQueue queue) {
  const VkResult truth = faulty().wait_idle(queue);
  return faulty().works_on.exchange(false) ? VK_ERROR_DEVICE_LOST : truth;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL faulty_device_function(VkDevice device, const char* name) {
  const std::string_view wanted(name);
  const PFN_vkVoidFunction real = faulty().device_function(device, name);
  const auto wrapped = [real](auto& kept, auto* wrapper) { return wrapped_function(real, kept, wrapper); };
  if (wanted == "vkGetDeviceProcAddr") return reinterpret_cast<PFN_vkVoidFunction>(faulty_device_function);
  if (!real) return nullptr;
  if (wanted == "vkCreateShaderModule") return wrapped(faulty().create_module, create_faulty_module);
  if (wanted == "vkCreateComputePipelines")
    return wrapped(faulty().create_pipelines, create_faulty_pipelines);
  if (wanted == "vkCreatePipelineCache") return wrapped(faulty().create_cache, create_faulty_cache);
  if (wanted == "vkBeginCommandBuffer") return wrapped(faulty().begin_commands, begin_faulty_commands);
  if (wanted == "vkCmdBindPipeline") return wrapped(faulty().bind_pipeline, bind_faulty_pipeline);
  if (wanted == "vkAllocateDescriptorSets") return wrapped(faulty().allocate_sets, allocate_faulty_sets);
  if (wanted == "vkUpdateDescriptorSets") return wrapped(faulty().update_sets, update_faulty_sets);
  if (wanted == "vkCmdBindDescriptorSets") return wrapped(faulty().bind_sets, bind_faulty_sets);
  if (wanted == "vkCmdDispatch") return wrapped(faulty().dispatch, faulty_dispatch);
  if (wanted == "vkQueueSubmit") return wrapped(faulty().submit, faulty_submit);
  if (wanted == "vkWaitForFences") return wrapped(faulty().wait_for_fences, wait_for_faulty_fences);
  if (wanted == "vkGetQueryPoolResults") return wrapped(faulty().query_results, late_results);
  if (wanted == "vkFreeMemory")
    return wrapped(faulty().free_memory, destroy<&FaultyState::free_memory, VkDeviceMemory>);
  if (wanted == "vkDestroyBuffer")
    return wrapped(faulty().destroy_buffer, destroy<&FaultyState::destroy_buffer, VkBuffer>);
  if (wanted == "vkDestroyCommandPool")
    return wrapped(faulty().destroy_pool, destroy<&FaultyState::destroy_pool, VkCommandPool>);
  if (wanted == "vkDestroyFence")
    return wrapped(faulty().destroy_fence, destroy<&FaultyState::destroy_fence, VkFence>);
  if (wanted == "vkQueueWaitIdle") return wrapped(faulty().wait_idle, wait_until_idle);
  if (wanted == "vkGetFenceStatus") return wrapped(faulty().fence_status, faulty_fence_status);
  return real;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL faulty_instance_function(VkInstance instance, const char* name) {
  const std::string_view wanted(name);
  if (wanted == "vkGetInstanceProcAddr")
    return reinterpret_cast<PFN_vkVoidFunction>(faulty_instance_function);
  const PFN_vkVoidFunction real = faulty().instance_function(instance, name);
  if (faulty().fault == DriverFault::ends_in_matrices_query)
    if (const PFN_vkVoidFunction function = matrices_function(wanted, real)) return function;
  if (wanted != "vkGetDeviceProcAddr") return real;
  faulty().device_function = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real);
  return reinterpret_cast<PFN_vkVoidFunction>(faulty_device_function);
}

}  // namespace

FaultyDriver::FaultyDriver(DriverFault fault, std::string shader) {
  faulty_state() = std::make_unique<FaultyState>();
  faulty().fault = fault;
  faulty().shader = std::move(shader);
  faulty().loader = open_vulkan_loader();
  faulty().instance_function =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(faulty().loader.symbol("vkGetInstanceProcAddr"));
}

FaultyDriver::~FaultyDriver() { faulty_state().reset(); }

PFN_vkGetInstanceProcAddr FaultyDriver::get_instance_proc_addr() const { return faulty_instance_function; }

}  // namespace vellum::test
