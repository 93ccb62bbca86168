// Stands between Vellum and the Vulkan loader: counts, and makes calls fail or devices look different.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <vector>

namespace vellum::test {

// Vulkan's functions carry no user pointer, so the state is the process's; one Interposer exists at a time.
class Interposer {
 public:
  Interposer();
  ~Interposer();
  Interposer(const Interposer&) = delete;
  Interposer& operator=(const Interposer&) = delete;

  // For ContextOptions::get_instance_proc_addr.
  PFN_vkGetInstanceProcAddr get_instance_proc_addr() const;

  // What the device was really asked for.
  uint64_t allocated_bytes() const;
  uint64_t peak_bytes() const;  // most that were allocated at once since reset_peak()
  void reset_peak();
  uint32_t allocations() const;

  // Calls that make Vulkan objects, take memory, or begin to record commands.
  uint32_t objects_made() const;

  void fail_allocations_after(uint32_t successes);  // with VK_ERROR_OUT_OF_DEVICE_MEMORY
  void fail_submits_after(uint32_t successes);      // with VK_ERROR_OUT_OF_HOST_MEMORY
  void lose_device();  // waiting for fences fails with VK_ERROR_DEVICE_LOST, until
  void find_device();
  void hide_devices();
  void hide_instance_version();  // a loader of Vulkan 1.0
  void hide_coherent_memory();
  void split_memory();  // as on a graphics card: buffers in device-local memory that the host cannot reach
  // A queue family that only copies, as graphics cards have; its queue is the device's first in disguise, so
  // that validation sees which submits wait for which.
  void add_transfer_queue();
  uint32_t submits() const;
  uint32_t waiting_submits() const;  // those that waited for a semaphore
  // Ranges that were flushed or invalidated.
  const std::vector<VkMappedMemoryRange>& synchronised_ranges() const;
};

}  // namespace vellum::test
