// Images of the application, and the formats in which shaders read and write them.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "vulkan/delete_when_idle.hpp"
#include "vulkan/descriptors.hpp"
#include "vulkan/external_format.hpp"

namespace vellum::gpu {

class Context;

// How a shader reads the values of a format. bytes: normalised 8-bit values; planes: Y, U and V of 8 bits;
// numbers: any other format.
enum class SampledFormat : uint8_t { bytes, numbers, planes };
// Throws Error(unsupported), which names the format, if it is not sampled as floats or the device does not
// support sampling it.
SampledFormat sampled_format(const Context& context, ImageFormatId format);

// Returns the format qualifier of a writeonly image2D, "rgba8"; empty if the shader uses none. Throws
// Error(unsupported), which names the format, if it is not one of ImageBinding's formats or the device does
// not support storing it.
const char* storage_qualifier(const Context& context, VkFormat format);

// Returns all results that storage_qualifier() may have.
std::vector<const char*> storage_qualifiers();

struct ApplicationImageDesc {
  VkImage image = VK_NULL_HANDLE;
  ImageFormatId format = {};
  VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
  uint32_t mip_level = 0, array_layer = 0;
};

// A view of one mip level and array layer of an image of the application.
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
