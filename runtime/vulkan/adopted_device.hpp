// The application's device, with the extensions, features and queues that Vellum may use.
#pragma once

#include "vulkan/instance.hpp"
#include "vulkan/physical_device.hpp"

namespace vellum {
struct VulkanPhysicalDevice;
struct VulkanDevice;
}  // namespace vellum

namespace vellum::gpu {

// Throws Error(invalid_argument) for a null handle, Error(unsupported) for a device without Vulkan 1.1 or
// without a compute queue.
vk::raii::PhysicalDevice adopted_physical_device(const Instance& instance,
                                                 const VulkanPhysicalDevice& device);

// Describes the device with the extensions and features that the application enabled. Throws
// Error(invalid_argument) for a null handle or a queue of the wrong kind, and Error(unsupported), which names
// the required extensions and features that are not enabled.
//
// Opens `marks` for the device, and sets a crash mark during the query for cooperative matrices.
PhysicalDevice describe_adopted(const Instance& instance, const VulkanDevice& device,
                                const ContextOptions& options, CrashMarks& marks);

}  // namespace vellum::gpu
