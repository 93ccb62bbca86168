// Images of the application's, in the formats in which shaders read and write them.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "vulkan/delete_when_idle.hpp"
#include "vulkan/descriptors.hpp"
#include "vulkan/ycbcr_samplers.hpp"

namespace vellum::gpu {

class Context;

// How a shader gets the values of a format. bytes: normalised, of 8 bits; planes: Y, U and V of 8 bits.
enum class SampledFormat : uint8_t { bytes, numbers, planes };
// Throws Error(unsupported), naming the format, if it does not read as floats or the device does not sample
// it.
SampledFormat sampled_format(const Context& context, ImageFormatId format);

// The format qualifier of a writeonly image2D, "rgba8"; empty: the shader names none. Throws
// Error(unsupported), naming the format, if it is not one of those of ImageBinding or the device does not
// store it.
const char* storage_qualifier(const Context& context, VkFormat format);

// All that storage_qualifier() may return.
std::vector<const char*> storage_qualifiers();

struct ApplicationImageDesc {
  VkImage image = VK_NULL_HANDLE;
  ImageFormatId format = {};
  VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
  uint32_t mip_level = 0, array_layer = 0;
};

// A view of one level and layer.
class ApplicationImage {
 public:
  ApplicationImage(std::shared_ptr<Context> context, const ApplicationImageDesc& desc,
                   VkImageUsageFlags usage);
  ~ApplicationImage();
  ApplicationImage(ApplicationImage&&) noexcept;
  ApplicationImage& operator=(ApplicationImage&&) noexcept;

  BoundResource resource() const;

 private:
  struct Impl;
  std::unique_ptr<Impl, DeleteWhenIdle> impl_;
};

}  // namespace vellum::gpu
