#include "vulkan/slow_device.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "platform/dynamic_library.hpp"
#include "vulkan/loader.hpp"

namespace vellum::test {
namespace {

using SlowClock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

struct Slowness {
  std::mutex mutex;
  platform::DynamicLibrary loader;
  PFN_vkGetInstanceProcAddr instance_function = nullptr;
  PFN_vkGetDeviceProcAddr device_function = nullptr;
  PFN_vkBeginCommandBuffer begin_commands = nullptr;
  PFN_vkCmdBeginDebugUtilsLabelEXT begin_label = nullptr;
  PFN_vkCmdDispatch dispatch = nullptr;
  PFN_vkQueueSubmit submit = nullptr;
  PFN_vkWaitForFences wait_for_fences = nullptr;
  PFN_vkGetFenceStatus fence_status = nullptr;
  PFN_vkCreateComputePipelines create_pipelines = nullptr;

  std::map<std::string, std::vector<double>> milliseconds;
  std::map<std::string, size_t> recorded;  // dispatches of each label
  std::map<VkCommandBuffer, std::string> labels;
  std::map<VkCommandBuffer, double> durations;
  std::map<VkFence, SlowClock::time_point> ends;
  SlowClock::time_point free_at{};
  std::vector<double> submitted;
  double largest_wait = 0;
  std::chrono::milliseconds pipeline_time{0};
  std::atomic<uint32_t> blocking_waits = 0, pipelines_begun = 0;
};

// Made anew by each SlowDevice.
std::unique_ptr<Slowness>& slowness() {
  static std::unique_ptr<Slowness> the_slowness;
  return the_slowness;
}
Slowness& slow() { return *slowness(); }

VKAPI_ATTR VkResult VKAPI_CALL begin_slow_commands(VkCommandBuffer commands,
                                                   const VkCommandBufferBeginInfo* info) {
  {
    const std::lock_guard lock(slow().mutex);
    slow().durations[commands] = 0;
  }
  return slow().begin_commands(commands, info);
}

VKAPI_ATTR void VKAPI_CALL begin_slow_label(VkCommandBuffer commands, const VkDebugUtilsLabelEXT* label) {
  {
    const std::lock_guard lock(slow().mutex);
    slow().labels[commands] = label->pLabelName;
  }
  slow().begin_label(commands, label);
}

VKAPI_ATTR void VKAPI_CALL slow_dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  {
    const std::lock_guard lock(slow().mutex);
    const std::string& label = slow().labels[commands];
    const auto found = slow().milliseconds.find(label);
    if (found != slow().milliseconds.end())
      slow().durations[commands] += found->second[slow().recorded[label]++ % found->second.size()];
  }
  slow().dispatch(commands, x, y, z);
}

VKAPI_ATTR VkResult VKAPI_CALL slow_submit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits,
                                           VkFence fence) {
  {
    const std::lock_guard lock(slow().mutex);
    double duration = 0;
    for (uint32_t i = 0; i < count; ++i)
      for (uint32_t c = 0; c < submits[i].commandBufferCount; ++c)
        duration += slow().durations[submits[i].pCommandBuffers[c]];
    const auto taken = std::chrono::duration_cast<SlowClock::duration>(Milliseconds(duration));
    const SlowClock::time_point now = SlowClock::now();
    slow().free_at = std::max(slow().free_at, now) + taken;
    slow().ends[fence] = slow().free_at;
    if (duration > 0) {
      slow().submitted.push_back(duration);
      slow().largest_wait = std::max(slow().largest_wait, Milliseconds(slow().free_at - now).count());
    }
  }
  return slow().submit(queue, count, submits, fence);
}

SlowClock::time_point end_of(uint32_t count, const VkFence* fences) {
  const std::lock_guard lock(slow().mutex);
  SlowClock::time_point end{};
  for (uint32_t i = 0; i < count; ++i)
    if (const auto found = slow().ends.find(fences[i]); found != slow().ends.end())
      end = std::max(end, found->second);
  return end;
}

VKAPI_ATTR VkResult VKAPI_CALL slow_wait(VkDevice device, uint32_t count, const VkFence* fences, VkBool32 all,
                                         uint64_t timeout) {
  const SlowClock::time_point now = SlowClock::now(), end = end_of(count, fences);
  const bool is_done = now >= end && slow().wait_for_fences(device, count, fences, all, 0) == VK_SUCCESS;
  slow().blocking_waits += timeout > 0 && !is_done;
  if (end > now && static_cast<uint64_t>(std::chrono::nanoseconds(end - now).count()) > timeout) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(timeout));
    return VK_TIMEOUT;
  }
  std::this_thread::sleep_until(end);
  return slow().wait_for_fences(device, count, fences, all, timeout);
}

VKAPI_ATTR VkResult VKAPI_CALL slow_status(VkDevice device, VkFence fence) {
  if (SlowClock::now() < end_of(1, &fence)) return VK_NOT_READY;
  return slow().fence_status(device, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL create_slowly(VkDevice device, VkPipelineCache cache, uint32_t count,
                                             const VkComputePipelineCreateInfo* infos,
                                             const VkAllocationCallbacks* callbacks, VkPipeline* pipelines) {
  slow().pipelines_begun += count;
  std::this_thread::sleep_for(slow().pipeline_time * count);
  return slow().create_pipelines(device, cache, count, infos, callbacks, pipelines);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL slow_device_function(VkDevice device, const char* name) {
  const std::string_view wanted(name);
  const PFN_vkVoidFunction real = slow().device_function(device, name);
  const auto wrapped = [&](auto& kept, auto* wrapper) {
    kept = reinterpret_cast<std::remove_reference_t<decltype(kept)>>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(wrapper);
  };
  if (wanted == "vkGetDeviceProcAddr") return reinterpret_cast<PFN_vkVoidFunction>(slow_device_function);
  if (!real) return nullptr;
  if (wanted == "vkBeginCommandBuffer") return wrapped(slow().begin_commands, begin_slow_commands);
  if (wanted == "vkCmdBeginDebugUtilsLabelEXT") return wrapped(slow().begin_label, begin_slow_label);
  if (wanted == "vkCmdDispatch") return wrapped(slow().dispatch, slow_dispatch);
  if (wanted == "vkQueueSubmit") return wrapped(slow().submit, slow_submit);
  if (wanted == "vkWaitForFences") return wrapped(slow().wait_for_fences, slow_wait);
  if (wanted == "vkGetFenceStatus") return wrapped(slow().fence_status, slow_status);
  if (wanted == "vkCreateComputePipelines") return wrapped(slow().create_pipelines, create_slowly);
  return real;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL slow_instance_function(VkInstance instance, const char* name) {
  const std::string_view wanted(name);
  if (wanted == "vkGetInstanceProcAddr") return reinterpret_cast<PFN_vkVoidFunction>(slow_instance_function);
  const PFN_vkVoidFunction real = slow().instance_function(instance, name);
  if (wanted != "vkGetDeviceProcAddr") return real;
  slow().device_function = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real);
  return reinterpret_cast<PFN_vkVoidFunction>(slow_device_function);
}

}  // namespace

SlowDevice::SlowDevice() {
  slowness() = std::make_unique<Slowness>();
  slow().loader = open_vulkan_loader();
  slow().instance_function =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(slow().loader.symbol("vkGetInstanceProcAddr"));
}

SlowDevice::~SlowDevice() { slowness().reset(); }

PFN_vkGetInstanceProcAddr SlowDevice::get_instance_proc_addr() const { return slow_instance_function; }

void SlowDevice::slow_dispatches(std::map<std::string, std::vector<double>> milliseconds) {
  const std::lock_guard lock(slow().mutex);
  slow().milliseconds = std::move(milliseconds);
  slow().recorded.clear();
}

void SlowDevice::slow_pipelines(std::chrono::milliseconds each) { slow().pipeline_time = each; }

std::vector<double> SlowDevice::submitted_milliseconds() const {
  const std::lock_guard lock(slow().mutex);
  return slow().submitted;
}

double SlowDevice::largest_wait_milliseconds() const {
  const std::lock_guard lock(slow().mutex);
  return slow().largest_wait;
}

void SlowDevice::forget_submits() {
  const std::lock_guard lock(slow().mutex);
  slow().submitted.clear();
  slow().largest_wait = 0;
}

uint32_t SlowDevice::blocking_waits() const { return slow().blocking_waits; }
uint32_t SlowDevice::pipelines_begun() const { return slow().pipelines_begun; }

}  // namespace vellum::test
