// The driver's pipeline cache, kept on disk between runs.
#pragma once

#include <atomic>
#include <vulkan/vulkan_raii.hpp>

#include "vulkan/pipeline.hpp"

namespace vellum::gpu {

vk::DescriptorType descriptor_type(BindingType type);

class PipelineCache {
 public:
  // Begins with what the cache folder holds for this device and driver; with nothing if that is damaged.
  explicit PipelineCache(Context& context);

  const vk::raii::PipelineCache& handle() const { return cache_; }
  // Never fails: what goes wrong is logged.
  void save() const;

 private:
  Context& context_;
  vk::raii::PipelineCache cache_{nullptr};
};

}  // namespace vellum::gpu
