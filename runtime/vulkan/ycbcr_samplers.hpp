// Samplers that read the planes of an image as they are stored: Y as green, U as blue, V as red.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "vulkan/context.hpp"
#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

// A VkSamplerYcbcrConversion that converts nothing, and its sampler without filtering.
struct YcbcrSampler {
  vk::raii::SamplerYcbcrConversion conversion{nullptr};
  vk::raii::Sampler sampler{nullptr};
  uint32_t descriptors = 1;  // that a combined image sampler takes of a pool
};

// Of a context, one for each format. Thread-safe.
class YcbcrSamplers {
 public:
  // Throws Error(unsupported), naming the device, if it does not sample the format.
  const YcbcrSampler& get(const Context::Impl& context, VkFormat format);

 private:
  std::mutex mutex_;
  std::map<VkFormat, YcbcrSampler> samplers_;
};

}  // namespace vellum::gpu
