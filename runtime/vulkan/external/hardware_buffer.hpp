// Android hardware buffers. Vulkan's declarations for them need no Android header, so this file compiles on
// every system; systems other than Android do not have the extension.
#pragma once

#include <vulkan/vulkan_core.h>
// After vulkan_core.h.
#include <vulkan/vulkan_android.h>

#include <cstdint>

#include "vulkan/external_format.hpp"

namespace vellum::gpu {

class Context;

struct HardwareBufferProperties {
  uint64_t bytes = 0;
  uint32_t memory_type_bits = 0;
  VkFormat format = VK_FORMAT_UNDEFINED;  // undefined: only a sampler of the external format can read it
  uint64_t external_format = 0;           // implementation-defined; 0: none
  ExternalFormat external;                // description of external_format
};

// `buffer`: an AHardwareBuffer. The device must have the extension.
HardwareBufferProperties hardware_buffer_properties(const Context& context, void* buffer);

// Calls `import` with the structure by which vkAllocateMemory imports the buffer.
template <typename Function>
auto chain_hardware_buffer(void* buffer, Function&& import) {
  const VkImportAndroidHardwareBufferInfoANDROID info{
      VK_STRUCTURE_TYPE_IMPORT_ANDROID_HARDWARE_BUFFER_INFO_ANDROID, nullptr,
      static_cast<AHardwareBuffer*>(buffer)};
  return import(&info);
}

}  // namespace vellum::gpu
