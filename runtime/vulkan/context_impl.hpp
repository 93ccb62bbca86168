// What a Context holds: for this folder's .cpp files alone.
#pragma once

#include <mutex>
#include <optional>
#include <vector>
#include <vulkan/vulkan_raii.hpp>

#include "vulkan/context.hpp"
#include "vulkan/error_translation.hpp"
#include "vulkan/instance.hpp"
#include "vulkan/memory.hpp"
#include "vulkan/memory_ledger.hpp"
#include "vulkan/physical_device.hpp"
#include "vulkan/pipeline.hpp"
#include "vulkan/shader_compiler.hpp"

namespace vellum::gpu {

// In this order: what is below uses what is above until its end.
struct Context::Impl {
  explicit Impl(const ContextOptions& given);

  ContextOptions options;
  ValidationLog validation;
  Instance instance;
  PhysicalDevice physical;
  DeviceCaps caps;  // what Vellum believes
  vk::PhysicalDeviceMemoryProperties memory_properties;
  vk::raii::Device device;
  vk::raii::Queue queue;
  std::optional<vk::raii::Queue> transfer_queue;
  std::mutex queue_mutex;  // Vulkan wants one thread at a time in vkQueueSubmit and vkDeviceWaitIdle
  vk::raii::Sampler nearest_sampler;
  MemoryLedger memory;
  ShaderCompiler shader_compiler;
  std::optional<PipelineRegistry> pipelines;

  uint32_t queue_family(QueueKind kind) const {
    return kind == QueueKind::transfer ? physical.transfer_family.value_or(physical.queue_family)
                                       : physical.queue_family;
  }
  // Both families; for resources that both queues use.
  std::vector<uint32_t> sharing_families(Sharing sharing) const {
    if (sharing == Sharing::compute_only || !physical.transfer_family) return {};
    return {physical.queue_family, *physical.transfer_family};
  }

  // Vulkan 1.3's queries; what the caller said of the device counts (adjust_caps may lower the version).
  bool has_maintenance4() const { return physical.maintenance4 && caps.api_version >= VK_API_VERSION_1_3; }
};

}  // namespace vellum::gpu
