// The driver's pipeline cache, stored on disk between runs.
#pragma once

#include <atomic>

#include "vulkan/pipeline.hpp"
#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

vk::DescriptorType descriptor_type(BindingType type);

class PipelineCache {
 public:
  // Reads the cache of this device and driver from the cache folder. The cache starts empty if there is no
  // file or the file is damaged.
  explicit PipelineCache(Context& context);

  const vk::raii::PipelineCache& handle() const { return cache_; }
  // Never throws; errors are logged.
  void save() const;

 private:
  Context& context_;
  vk::raii::PipelineCache cache_{nullptr};
};

}  // namespace vellum::gpu
