// Keeps drivers loaded that must not be unloaded.
#pragma once

#include <vector>

#include "vulkan/context.hpp"
#include "vulkan/physical_device.hpp"

namespace vellum::gpu {

// If the driver of one of the devices fails after it was unloaded (must_stay_loaded()), creates an instance
// that exists until the process ends, because the Vulkan loader unloads drivers with the last instance. Does
// nothing with the application's own loader. Thread-safe.
void keep_drivers_loaded(const std::vector<PhysicalDevice>& devices, const ContextOptions& options);

}  // namespace vellum::gpu
