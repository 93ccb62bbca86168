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

// Whether only one thread may wait for fences at a time.
bool waits_in_turn(const DeviceCaps& caps);

// The fewest invocations of a workgroup with barriers.
uint32_t least_workgroup_with_barriers(const DeviceCaps& caps);

}  // namespace vellum
