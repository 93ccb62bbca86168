// A layer between Vellum and the Vulkan loader that counts calls, makes calls fail, and changes what devices
// report.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <string>
#include <vector>

namespace vellum::test {

// Vulkan's functions have no user pointer, so the state is global; only one Interposer exists at a time.
class Interposer {
 public:
  Interposer();
  ~Interposer();
  Interposer(const Interposer&) = delete;
  Interposer& operator=(const Interposer&) = delete;

  // For ContextOptions::get_instance_proc_addr.
  PFN_vkGetInstanceProcAddr get_instance_proc_addr() const;

  // The bytes that are allocated from the device.
  uint64_t allocated_bytes() const;
  uint64_t peak_bytes() const;  // the peak since reset_peak()
  void reset_peak();
  uint32_t allocations() const;

  // Calls of Vellum's.
  uint32_t instances_made() const;
  uint32_t devices_made() const;
  uint32_t maps() const;   // of memory
  uint32_t waits() const;  // for fences, a queue or the device

  // Calls that make Vulkan objects, take memory, or begin to record commands.
  uint32_t objects_made() const;

  void fail_allocations_after(uint32_t successes);  // with VK_ERROR_OUT_OF_DEVICE_MEMORY
  void fail_submits_after(uint32_t successes);      // with VK_ERROR_OUT_OF_HOST_MEMORY
  void lose_device();  // waiting for fences fails with VK_ERROR_DEVICE_LOST, until
  void find_device();
  void delay_queries(uint32_t calls);  // that many answers are VK_NOT_READY
  void multiply_timestamps(uint64_t factor);  // a device that is slower than it is
  void hide_devices();
  void hide_drivers();  // a loader that finds none: no instance can be made
  // The device follows the portability subset alone: it is listed for an instance that enumerates such
  // devices, and opened where the extension is enabled.
  void make_portability_device();
  // The device offers VK_KHR_global_priority; a queue of any priority but `realtime` can be made.
  void offer_global_priority();
  VkQueueGlobalPriorityKHR global_priority() const;  // of the queues that were made; 0: none was asked for
  void skip_dispatches();                            // a driver that computes nothing
  // A driver that compiles shaders wrongly whose names (OpName) contain this one, such as that of a parameter
  // block: it adds where they multiply vectors,
  // and subtracts where they add. Empty: none.
  void miscompile(std::string name);
  uint32_t miscompiled() const;  // modules
  void hide_device_extensions();
  void hide_instance_version();  // a loader of Vulkan 1.0
  void hide_coherent_memory();
  void split_memory();  // as on a discrete GPU: buffers in device-local memory that is not host-visible
  // As on a discrete GPU whose 256 MiB that the host sees are full: allocations from them fail.
  void fill_mapped_heap();
  // Adds a queue family that only copies, as on discrete GPUs. Its queue is really the device's first queue,
  // so that validation sees the order of submits.
  void add_transfer_queue();
  uint32_t submits() const;
  uint32_t waiting_submits() const;  // those that waited for a semaphore
  // The dispatches of each submit.
  std::vector<uint32_t> submitted_dispatches() const;
  // The labels of the commands, and the names of objects, in order of the calls.
  std::vector<std::string> labels() const;
  std::vector<std::string> object_names() const;
  uint32_t pipelines_made() const;
  // The ranges that were flushed or invalidated.
  const std::vector<VkMappedMemoryRange>& synchronised_ranges() const;
};

}  // namespace vellum::test
