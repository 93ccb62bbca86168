// Formats of images of the application. Without vulkan.hpp, which takes seconds to parse.
#pragma once

#include <vulkan/vulkan_core.h>

#include <compare>
#include <cstdint>

namespace vellum::gpu {

// A VkFormat, or the implementation-defined format of an Android hardware buffer (VkExternalFormatANDROID).
struct ImageFormatId {
  VkFormat format = VK_FORMAT_UNDEFINED;
  uint64_t external = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): a mistake of clang-tidy 14
  auto operator<=>(const ImageFormatId&) const = default;
};

// The driver's description of an implementation-defined format
// (VkAndroidHardwareBufferFormatPropertiesANDROID).
struct ExternalFormat {
  VkFormatFeatureFlags features = 0;
  VkComponentMapping components = {};
  VkChromaLocation x_chroma = VK_CHROMA_LOCATION_COSITED_EVEN, y_chroma = VK_CHROMA_LOCATION_COSITED_EVEN;
  bool has_chroma = false;  // Y, U and V, not colours
};

}  // namespace vellum::gpu
