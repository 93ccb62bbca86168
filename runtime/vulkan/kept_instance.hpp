// An instance for drivers that must not be unloaded.
#pragma once

#include <vector>

#include "vulkan/context.hpp"
#include "vulkan/physical_device.hpp"

namespace vellum::gpu {

// Where a device's driver fails after it was unloaded (must_stay_loaded()), creates an instance that exists
// until the process ends: the Vulkan loader unloads drivers with the last one. Does nothing with a loader of
// the application's. Thread-safe.
void keep_drivers_loaded(const std::vector<PhysicalDevice>& devices, const ContextOptions& options);

}  // namespace vellum::gpu
