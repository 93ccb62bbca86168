// The members of a Context, for the .cpp files of this folder alone.
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

// The order matters: members use earlier ones until they are destroyed.
struct Context::Impl {
  explicit Impl(const ContextOptions& context_options);

  ContextOptions options;
  ValidationLog validation;
  Instance instance;
  PhysicalDevice physical;
  DeviceCaps caps;  // after adjust_caps
  vk::PhysicalDeviceMemoryProperties memory_properties;
  vk::raii::Device device;
  vk::raii::Queue queue;
  std::optional<vk::raii::Queue> transfer_queue;
  std::mutex queue_mutex;  // vkQueueSubmit and vkDeviceWaitIdle need external synchronisation
  vk::raii::Sampler nearest_sampler;
  MemoryLedger memory;
  ShaderCompiler shader_compiler;
  std::optional<PipelineRegistry> pipelines;

  uint32_t queue_family(QueueKind kind) const {
    return kind == QueueKind::transfer ? physical.transfer_family.value_or(physical.queue_family)
                                       : physical.queue_family;
  }
  // Returns the queue families of a resource that both queues use; nothing if one queue uses it.
  std::vector<uint32_t> sharing_families(Sharing sharing) const {
    if (sharing == Sharing::compute_only || !physical.transfer_family) return {};
    return {physical.queue_family, *physical.transfer_family};
  }

  // Whether Vulkan 1.3's memory queries may be used; adjust_caps may have lowered the version.
  bool has_maintenance4() const { return physical.maintenance4 && caps.api_version >= VK_API_VERSION_1_3; }
};

}  // namespace vellum::gpu
