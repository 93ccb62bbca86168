// Physical devices: their properties as DeviceCaps, and the selection of a device.
#pragma once

#include <optional>
#include <vector>

#include "caps/device_caps.hpp"
#include "vulkan/context.hpp"
#include "vulkan/device_support.hpp"
#include "vulkan/instance.hpp"
#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

class CrashMarks;

// VK_EXT_subgroup_size_control.
struct SubgroupControl {
  bool full = false;       // a pipeline can require full subgroups of DeviceCaps::subgroup_size
  bool sets_size = false;  // the pipeline must require that size; false: the device has no other size
  bool by_extension = false;
  uint32_t max_subgroups = 0;  // per workgroup, if the size is required
};

// The headers define this name only with VK_ENABLE_BETA_EXTENSIONS.
inline constexpr const char* kPortabilitySubset = "VK_KHR_portability_subset";

// The headers define these names only with VK_USE_PLATFORM_WIN32_KHR and VK_USE_PLATFORM_ANDROID_KHR.
inline constexpr const char* kMemoryWin32 = "VK_KHR_external_memory_win32";
inline constexpr const char* kSemaphoreWin32 = "VK_KHR_external_semaphore_win32";
inline constexpr const char* kHardwareBuffer = "VK_ANDROID_external_memory_android_hardware_buffer";

// Extensions for shared memory and semaphores (vellum/external.hpp).
struct ExternalExtensions {
  bool memory_fd = false, dma_buf = false, memory_win32 = false, host_pointer = false;
  bool hardware_buffer = false;
  bool semaphore_fd = false, semaphore_win32 = false;
  bool foreign_queues = false;  // VK_EXT_queue_family_foreign: for owners outside of the driver
};

// A physical device with its caps, queue families and the optional features that Vellum may use.
struct PhysicalDevice {
  vk::raii::PhysicalDevice handle{nullptr};
  DeviceIdentity identity;
  uint32_t queue_family = 0;
  std::optional<uint32_t> transfer_family;  // a family that only copies, with copies of any extent
  uint32_t timestamp_bits = 0;
  bool draws = false;  // a queue family has graphics
  // Limits that only this folder needs.
  uint32_t max_uniform_buffers_per_stage = 0;
  uint64_t max_image_bytes = 0;
  bool maintenance4 = false;              // core in Vulkan 1.3
  const char* global_priority = nullptr;  // the extension for it, if the device has one
  bool pipeline_statistics = false;       // VK_KHR_pipeline_executable_properties
  bool ycbcr = false;                     // samplerYcbcrConversion
  bool extended_storage_formats = false;  // shaderStorageImageExtendedFormats, if the application enabled it
  bool writes_without_format = false;  // shaderStorageImageWriteWithoutFormat, if the application enabled it
  ExternalExtensions external_extensions;
  bool timeline_semaphores = false;  // timelineSemaphore, if the application enabled it
  SubgroupControl subgroups;
  DeviceCaps caps;
};

struct QueueFamilies {
  uint32_t compute = 0;
  std::optional<uint32_t> transfer;  // a family that only copies, with copies of any extent
};

// Returns the queue families that Vellum uses. Returns nothing for a device without Vulkan 1.1 or without a
// compute queue.
std::optional<QueueFamilies> choose_queue_families(const vk::raii::PhysicalDevice& device);

// Describes all but the cooperative matrices. enabled: the features of an adopted device; null for other
// devices.
PhysicalDevice describe_device(vk::raii::PhysicalDevice handle, uint32_t instance_version,
                               const QueueFamilies& families, const EnabledFeatures* enabled);

// Adds the cooperative matrices. Call it only for the device that is used, not for each device that is
// listed: one of AMD's drivers for Windows ends the process in this query. marks: if not null, a crash mark
// is set during the query, and the query is skipped if it ended an earlier process.
PhysicalDevice with_cooperative_matrices(PhysicalDevice device, const EnabledFeatures* enabled = nullptr,
                                         CrashMarks* marks = nullptr);

// Returns the devices with Vulkan 1.1 and a compute queue, in the driver's order.
std::vector<PhysicalDevice> usable_devices(const Instance& instance);

// Returns the device that ContextOptions::device names. Throws Error(no_device), which lists the devices.
PhysicalDevice select_device(std::vector<PhysicalDevice> devices, const std::string& wanted);

}  // namespace vellum::gpu
