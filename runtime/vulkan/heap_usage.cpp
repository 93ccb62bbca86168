#include "vulkan/heap_usage.hpp"

#include "vulkan/context_impl.hpp"

namespace vellum::gpu {

std::optional<uint64_t> heap_usage(const Context& context) {
  if (!context.caps().memory_budget) return std::nullopt;
  const Context::Impl& impl = context.impl();
  const auto chain = impl.physical.handle.getMemoryProperties2<vk::PhysicalDeviceMemoryProperties2,
                                                               vk::PhysicalDeviceMemoryBudgetPropertiesEXT>();
  const auto& budget = chain.get<vk::PhysicalDeviceMemoryBudgetPropertiesEXT>();
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < impl.memory_properties.memoryHeapCount; ++i) bytes += budget.heapUsage[i];
  return bytes;
}

}  // namespace vellum::gpu
