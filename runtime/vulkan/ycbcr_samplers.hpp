// Samplers that read the planes of an image without conversion: Y as green, U as blue, V as red.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "vulkan/context.hpp"
#include "vulkan/external_format.hpp"
#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

// A VkSamplerYcbcrConversion that converts nothing, and its sampler without filtering.
struct YcbcrSampler {
  vk::raii::SamplerYcbcrConversion conversion{nullptr};
  vk::raii::Sampler sampler{nullptr};
  uint32_t descriptors = 1;  // number that a combined image sampler takes from a pool
};

// The samplers of a context, one for each format. Thread-safe.
class YcbcrSamplers {
 public:
  // Throws Error(unsupported), which names the device, if it cannot sample the format, and
  // Error(invalid_argument) for an external format that was not add()ed.
  const YcbcrSampler& get(const Context::Impl& context, ImageFormatId format);
  void add(uint64_t external_format, const ExternalFormat& description);

 private:
  std::mutex mutex_;
  std::map<ImageFormatId, YcbcrSampler> samplers_;
  std::map<uint64_t, ExternalFormat> external_formats_;
};

}  // namespace vellum::gpu
