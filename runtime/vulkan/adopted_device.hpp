// The application's device: what Vellum may use of it.
#pragma once

#include "vulkan/instance.hpp"
#include "vulkan/physical_device.hpp"

namespace vellum {
struct VulkanPhysicalDevice;
struct VulkanDevice;
}  // namespace vellum

namespace vellum::gpu {

// Throws Error(invalid_argument) for a null handle, Error(unsupported) for a device without Vulkan 1.1 or
// queues that compute.
vk::raii::PhysicalDevice adopted_physical_device(const Instance& instance,
                                                 const VulkanPhysicalDevice& device);

// Describes the device as far as the application enabled it. Throws Error(invalid_argument) for a null handle
// or a queue that cannot do its work, Error(unsupported) naming what Vellum requires and is not enabled.
PhysicalDevice describe_adopted(const Instance& instance, const VulkanDevice& device);

}  // namespace vellum::gpu
