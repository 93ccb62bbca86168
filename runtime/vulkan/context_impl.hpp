// The members of a Context, only for the .cpp files of this folder.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "vellum/vulkan.hpp"
#include "vulkan/context.hpp"
#include "vulkan/crash_marks.hpp"
#include "vulkan/delete_when_idle.hpp"
#include "vulkan/error_translation.hpp"
#include "vulkan/instance.hpp"
#include "vulkan/memory.hpp"
#include "vulkan/memory_ledger.hpp"
#include "vulkan/physical_device.hpp"
#include "vulkan/pipeline.hpp"
#include "vulkan/retained.hpp"
#include "vulkan/shader_compiler.hpp"
#include "vulkan/vulkan_hpp.hpp"
#include "vulkan/ycbcr_samplers.hpp"

namespace vellum::gpu {

// A queue. If it belongs to the application, it has the application's lock.
struct LockedQueue {
  vk::raii::Queue handle;
  std::function<void()> on_lock = {}, on_unlock = {};

  void lock() {
    if (on_lock) on_lock();
  }
  void unlock() {
    if (on_unlock) on_unlock();
  }
};

// The order of members matters: each may use earlier ones until it is destroyed.
struct Context::Impl {
  // adopted_device: the application's, or null to open one.
  Impl(const ContextOptions& context_options, const VulkanDevice* adopted_device);

  ContextOptions options;
  bool adopted;
  bool debug_labels = false;
  ValidationLog validation;
  Instance instance;
  CrashMarks crash_marks;
  PhysicalDevice physical;  // its initialisation opens crash_marks
  DeviceCaps caps;          // after adjust_caps
  vk::PhysicalDeviceMemoryProperties memory_properties;
  std::optional<vk::AllocationCallbacks> allocation_callbacks;  // of the application
  DeviceMemoryCallbacks memory_callbacks;                       // of the application
  vk::raii::Device device;
  LockedQueue queue;
  std::optional<LockedQueue> transfer_queue;
  std::mutex queue_mutex;  // for both queues, which may be the same
  std::mutex wait_mutex;   // for drivers on which only one thread at a time may wait for a fence
  vk::raii::Sampler nearest_sampler;
  YcbcrSamplers ycbcr_samplers;
  MemoryLedger memory;
  ShaderCompiler shader_compiler;
  std::optional<PipelineRegistry> pipelines;
  Retained retained;

  // Returns the allocation callbacks for everything that is created on the device.
  const vk::AllocationCallbacks* allocator() const {
    return allocation_callbacks ? &*allocation_callbacks : nullptr;
  }
  LockedQueue& queue_of(QueueKind kind) {
    return kind == QueueKind::transfer && transfer_queue ? *transfer_queue : queue;
  }
  // Calls `use` with the queue while no other thread uses it: vkQueueSubmit and vkQueueWaitIdle need external
  // synchronisation.
  template <typename Function>
  void use_queue(QueueKind kind, Function&& use) {
    LockedQueue& used = queue_of(kind);
    const std::lock_guard own(queue_mutex);
    const std::lock_guard shared(used);
    use(used.handle);
  }

  // Calls `use`. If it throws that the device is lost, objects are kept from then on.
  template <typename Function>
  decltype(auto) noting_loss(Function&& use) {
    try {
      return use();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::device_lost) retained.lose_device();
      throw;
    }
  }

  // Waits for the fence as vkWaitForFences() does. If the driver requires it, threads wait one after another.
  vk::Result wait_for_fence(vk::Fence fence, uint64_t nanoseconds);

  uint32_t queue_family(QueueKind kind) const {
    return kind == QueueKind::transfer ? physical.transfer_family.value_or(physical.queue_family)
                                       : physical.queue_family;
  }
  // Returns the queue families of a resource that both queues use; nothing if one queue uses it.
  std::vector<uint32_t> sharing_families(Sharing sharing) const {
    if (sharing == Sharing::compute_only || !physical.transfer_family ||
        *physical.transfer_family == physical.queue_family)
      return {};
    return {physical.queue_family, *physical.transfer_family};
  }

  // Returns whether Vulkan 1.3's memory queries may be used; adjust_caps may have lowered the version.
  bool has_maintenance4() const { return physical.maintenance4 && caps.api_version >= VK_API_VERSION_1_3; }
};

template <typename Impl>
void DeleteWhenIdle::operator()(Impl* impl) const noexcept {
  if (!impl->context || !impl->context->impl().retained.is_uncertain()) {
    delete impl;
    return;
  }
  try {
    // A kept object must not own the context, which would then never be destroyed. Memory also owns the
    // context, so it is kept separately, after the object that is bound to it. Pipelines belong to the
    // context.
    const std::shared_ptr<Context> context = std::move(impl->context);
    impl->context = std::shared_ptr<Context>(std::shared_ptr<void>(), context.get());
    std::shared_ptr<void> memory;
    if constexpr (requires { impl->arena; }) memory = std::move(impl->arena);
    if constexpr (requires { impl->pipelines; }) impl->pipelines.clear();
    context->impl().retained.keep(impl);
  } catch (...) {
    // There is no memory for the list, and the device may use the object: it is never freed.
  }
}

}  // namespace vellum::gpu
