// A layer between Vellum and the Vulkan loader that offers Android's hardware buffers on any driver: each is
// memory that the driver allocates when it is imported.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace vellum::test {

// Stands for an AHardwareBuffer.
struct FakeHardwareBuffer {
  uint64_t bytes = 0;
  VkFormat format = VK_FORMAT_UNDEFINED;  // undefined: of the driver's own, or none
  // The driver's own: the layer makes images in NV12 of it. 0: none.
  uint64_t external_format = 0;
  bool has_colors = false;                // it is red, green and blue, not Y, U and V
  uint32_t imports = 0;                   // that are alive
  uint32_t imported = 0;                  // in all
  VkImage image = VK_NULL_HANDLE;         // of the last import, if it was for an image
  std::function<void(VkImage)> fill = {};  // called when the image has its memory
  bool was_dedicated = false;             // the last import was for one image or buffer alone
  std::byte* data = nullptr;              // of the last import, mapped
};

// As Interposer, its state is global; only one of either exists at a time.
class HardwareBuffers {
 public:
  HardwareBuffers();
  ~HardwareBuffers();
  HardwareBuffers(const HardwareBuffers&) = delete;
  HardwareBuffers& operator=(const HardwareBuffers&) = delete;

  // For ContextOptions::get_instance_proc_addr.
  PFN_vkGetInstanceProcAddr get_instance_proc_addr() const;
  // Images that were acquired from or released to other drivers, in commands that were recorded.
  size_t foreign_transfers() const;
};

}  // namespace vellum::test
