// A layer between Vellum and the Vulkan loader that offers Android's hardware buffers on any driver: each is
// memory that the driver allocates when it is imported.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>

namespace vellum::test {

// Stands for an AHardwareBuffer.
struct FakeHardwareBuffer {
  uint64_t bytes = 0;
  VkFormat format = VK_FORMAT_UNDEFINED;  // undefined: of the driver's own, or none
  uint32_t imports = 0;                   // that are alive
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
};

}  // namespace vellum::test
