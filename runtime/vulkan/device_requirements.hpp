// Extensions and features that Vellum uses of an application's physical device: Device::requirements().
#pragma once

#include <memory>

#include "vellum/vulkan.hpp"

namespace vellum::gpu {

// Throws Error(invalid_argument) for a null handle, Error(unsupported) for a device that Vellum cannot use.
std::shared_ptr<DeviceRequirements::Impl> device_requirements(const VulkanPhysicalDevice& device);

}  // namespace vellum::gpu
