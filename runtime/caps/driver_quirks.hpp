// Faults of particular drivers. The only place for such knowledge.
#pragma once

#include "caps/device_caps.hpp"

namespace vellum {

// Switches off features that the driver claims and does not do right, and sets limits that it does not
// report.
void apply_driver_quirks(DeviceCaps& caps);

// Whether vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR may end the process.
bool ends_in_cooperative_query(const DeviceCaps& caps);

// Whether the driver fails once it was unloaded and loaded again a few dozen times.
bool must_stay_loaded(const DeviceCaps& caps);

}  // namespace vellum
